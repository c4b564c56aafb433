"""What a released table does not promise, and what opens it."""
