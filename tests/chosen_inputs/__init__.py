"""Chosen inputs: the worst columns, identifiers and keys of a partner or a coordinator."""
