"""Scripts that run other projects' software, by a Python that has it installed."""
