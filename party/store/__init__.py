"""The books of a party in one SQLite file."""
