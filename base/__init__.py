"""What every room may import: errors, checks, text for terminals, names, array types."""

if __name__ != "coterie.base":
    raise ImportError("this folder is the package coterie.base; import it by that name")
