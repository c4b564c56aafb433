"""Anonymity of one table: generalization, privacy models, algorithms, utility and risk.

README.md lists the papers that docstrings cite as paper 1 to paper 5; paper 3 is "the chapter".
"""

if __name__ != "coterie.anonymity":
    raise ImportError("this folder is the package coterie.anonymity; import it by that name")
