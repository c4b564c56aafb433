"""Experiments that reproduce the papers' tables and figures, one folder for each paper."""

if __name__ != "coterie.experiments":
    raise ImportError("this folder is the package coterie.experiments; import it by that name")
