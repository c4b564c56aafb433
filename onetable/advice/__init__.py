"""`coterie advise`: which requirement to write."""
