"""What `bench anonymise` needs apart from its clock: stored tables, and every node of a lattice."""
