"""Jobs: the job file, a party's data, matching, the kinds of job, and one party's run."""

if __name__ != "coterie.jobs":
    raise ImportError("this folder is the package coterie.jobs; import it by that name")
