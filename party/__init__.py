"""One organisation's server: its party file, policy, service, worker, journal and ledger."""

if __name__ != "coterie.party":
    raise ImportError("this folder is the package coterie.party; import it by that name")
