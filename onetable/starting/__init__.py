"""`coterie init`: a first table, job or party file about the data at hand."""
