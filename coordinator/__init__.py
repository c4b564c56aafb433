"""What an analyst runs: commands, the driver of a job, simulations, results, the demo."""

if __name__ != "coterie.coordinator":
    raise ImportError("this folder is the package coterie.coordinator; import it by that name")
