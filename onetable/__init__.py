"""Commands on one organisation's own table, without partners: inspect, anonymise, verify."""

if __name__ != "coterie.onetable":
    raise ImportError("this folder is the package coterie.onetable; import it by that name")
