"""Sessions between party servers over gRPC: frames, streams, spool, error messages."""

if __name__ != "coterie.transport":
    raise ImportError("this folder is the package coterie.transport; import it by that name")
