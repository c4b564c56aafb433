"""Records all traces anew, or those whose names contain the arguments: `make traces`."""

import sys
import tempfile
from pathlib import Path

from tests.traces.cases import CASES
from tests.traces.record import known, recorded, write


def main(wanted: list[str]) -> None:
    before = known()
    digests = {}
    for name, case in CASES.items():
        if name in before and wanted and not any(part in name for part in wanted):
            digests[name] = before[name]
            continue
        with tempfile.TemporaryDirectory() as folder:
            digests[name] = recorded(case, Path(folder))
        if digests[name] != before.get(name):
            print("changed:" if name in before else "new:", name)
    for name in before.keys() - CASES.keys():
        print("gone:", name)
    write(digests)


if __name__ == "__main__":
    main(sys.argv[1:])
