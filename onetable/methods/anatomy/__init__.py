"""`method: anatomy`: exact quasi-identifiers in one table, sensitive values of groups in another."""
