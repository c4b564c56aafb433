"""What parties compute together: mathematics and messages, without sockets, files or clocks."""

if __name__ != "coterie.protocols":
    raise ImportError("this folder is the package coterie.protocols; import it by that name")
