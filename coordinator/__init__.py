"""The analyst's side: commands, runs of jobs, simulations, results, the demo."""

if __name__ != "coterie.coordinator":
    raise ImportError("this folder is the package coterie.coordinator; import it by that name")
