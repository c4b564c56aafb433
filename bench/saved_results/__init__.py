"""What a benchmark keeps: its figures with their spread, and what the machine did meanwhile."""
