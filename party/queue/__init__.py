"""The queue of a party: which accepted job begins when."""
