"""Which processor core a process of the tests runs on.

The parties of most tests are threads of one process that hand over to each other at every message.
On one core a hand-over takes a fraction of what it takes between two, and tests that run beside each
other do not chase each other from core to core: the tests of a whole room take a third less.
"""

import os


def stay_on(number: int) -> None:
    """Keeps this process, and those that it starts, on one core: 0 is the first, and so on.

    Where there are fewer cores, counting begins again; where the system has no such call, nothing
    happens.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
