"""Certificates and identities, which parties and coordinators both need."""

if __name__ != "coterie.trust":
    raise ImportError("this folder is the package coterie.trust; import it by that name")
