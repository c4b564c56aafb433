"""Anonymity of one table: generalization, privacy models, algorithms, utility and risk."""

if __name__ != "coterie.anonymity":
    raise ImportError("this folder is the package coterie.anonymity; import it by that name")
