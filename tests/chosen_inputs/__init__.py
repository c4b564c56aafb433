"""What a partner that chooses its columns, identifiers and keys must not learn; the judge is arithmetic."""
