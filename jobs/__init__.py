"""A job file becomes a computation: the file, the data, matching, the kinds, one party's run."""

if __name__ != "coterie.jobs":
    raise ImportError("this folder is the package coterie.jobs; import it by that name")
