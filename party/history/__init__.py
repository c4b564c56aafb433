"""What a party remembers of earlier jobs, and what it concludes for new ones."""
