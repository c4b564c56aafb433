"""A disk that is nearly full, as the kernel shows it to this process."""

import contextlib
import resource


@contextlib.contextmanager
def room_for(path, more):
    """No file may grow beyond `more` bytes above what this one has: the kernel cuts the write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = path.stat().st_size + more
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
