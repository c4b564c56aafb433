"""Commands on one organisation's own table, without partners: inspect, anonymise, verify."""

if __name__ != "coterie.house":
    raise ImportError("this folder is the package coterie.house; import it by that name")
