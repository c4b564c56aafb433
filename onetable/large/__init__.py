"""Tables that the memory does not hold."""
