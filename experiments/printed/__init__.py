"""Every table, figure and worked example of the five sources, and what became of it here."""
