"""What `coterie verify` checks of every release of one table, in memory or on disk."""
