"""The worst columns, identifiers, rows and keys that a partner or a coordinator can choose."""
