"""The papers' tables and figures made again, one folder a paper."""

if __name__ != "coterie.experiments":
    raise ImportError("this folder is the package coterie.experiments; import it by that name")
