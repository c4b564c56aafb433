"""Inputs that a partner, a coordinator or a reader chooses, and what must not follow from them."""
