"""One organisation's own table, without a partner: an anonymous release of it, and its check."""

if __name__ != "coterie.house":
    raise ImportError("this folder is the package coterie.house; import it by that name")
