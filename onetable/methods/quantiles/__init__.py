"""`method: quantiles` of a table file: its keys, and the verification of its releases."""
