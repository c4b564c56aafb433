"""The wire contract of a party server, and the code generated from it."""

if __name__ != "coterie.protos":
    raise ImportError("this folder is the package coterie.protos; import it by that name")
