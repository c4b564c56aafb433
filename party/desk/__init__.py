"""The steward's desk: `coterie party desk`."""
