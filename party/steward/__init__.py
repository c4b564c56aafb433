"""What a server does for its steward: explains jobs, notifies, and removes what is old."""
