"""Benchmarks of Coterie beside its peers; each prints one JSON object."""

if __name__ != "coterie.bench":
    raise ImportError("this folder is the package coterie.bench; import it by that name")
