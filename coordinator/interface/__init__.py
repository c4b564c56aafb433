"""Jobs from Python: `coterie.Job`, `coterie.simulate`, `coterie.run`, `coterie.verify`."""
