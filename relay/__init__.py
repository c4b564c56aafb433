"""A relay: carries connections of parties that open no port."""

if __name__ != "coterie.relay":
    raise ImportError("this folder is the package coterie.relay; import it by that name")
