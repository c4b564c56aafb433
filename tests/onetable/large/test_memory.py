"""A table several times the memory is inspected and anonymised in a process that has no more.

The process is limited by the operating system (RLIMIT_DATA) after it has imported and compiled what
it needs. That the limit bites is tried, too: reading the table as a whole fails under it.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from coterie.onetable.inspection.inspect import inspect_path
from coterie.onetable.inspection.settings import Settings
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.methods.reading import load_table_file

BUDGET = 48_000_000
TABLE_FILE = """\
data: {name}.csv
attributes:
  a: {{}}
  b: {{}}
  c: {{}}
  d: {{}}
  ill: {{}}
requirement:
  - {{qid: [a, b, c, d], k: 40}}
"""
# Whether the memory does not suffice for a work. Of that Arrow raises an error or ends the process, and
# other libraries raise errors of their own.
DOES_NOT_FIT = """
import os, sys

def does_not_fit(work):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("ended with", code, file=sys.stderr)
    return code != 0
"""
# The limit is the budget itself, and counts all that is asked for, whether or not it was touched.
LIMITED = """
import json, resource, sys
from pathlib import Path
from coterie.coordinator.results.verify import verify
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.inspection.inspect import inspect_path
from coterie.onetable.inspection.settings import Settings
from coterie.onetable.methods.generalizing.large import anonymise_large
from coterie.onetable.methods.reading import load_table_file

folder, budget = Path(sys.argv[1]), int(sys.argv[2])
settings = Settings(memory=budget, seed=1)

def release(name):
    with anonymise_large(load_table_file(folder / f"{name}.yaml"), budget) as large:
        out = folder / f"{name}-disk"
        out.mkdir()
        large.write(out)
    verify(out)

inspect_path(folder / "small.csv", (), settings)
release("small")
anonymise_file(load_table_file(folder / "small.yaml"))
used = int(Path("/proc/self/status").read_text().split("VmData:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + budget, used + budget))
found = inspect_path(folder / "large.csv", (), settings)
release("large")
bites = does_not_fit(lambda: anonymise_file(load_table_file(folder / "large.yaml")))
print(json.dumps({"bites": bites, "found": found}))
"""


def write(folder, name, number):
    rng = np.random.default_rng(3)
    sizes = {"a": 5, "b": 60, "c": 900, "d": 4000}
    columns = {
        column: np.minimum(rng.geometric(4 / size, number), size) for column, size in sizes.items()
    }
    columns["ill"] = np.array(["cold", "flu", "gout"])[rng.integers(0, 3, number)]
    pacsv.write_csv(pa.table(columns), folder / f"{name}.csv")
    (folder / f"{name}.yaml").write_text(TABLE_FILE.format(name=name))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts all memory on Linux only")
def test_a_table_several_times_the_memory_is_inspected_and_released_as_if_it_fitted(tmp_path):
    write(tmp_path, "small", 3000)
    write(tmp_path, "large", 450_000)
    done = subprocess.run(
        [sys.executable, "-c", DOES_NOT_FIT + LIMITED, str(tmp_path), str(BUDGET)],
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["bites"]

    file = load_table_file(tmp_path / "large.yaml")
    made = anonymise_file(file)
    (tmp_path / "memory").mkdir()
    made.write(tmp_path / "memory")
    whole, pieces = (tmp_path / name / "release.csv" for name in ("memory", "large-disk"))
    assert whole.read_bytes() == pieces.read_bytes()

    whole = inspect_path(tmp_path / "large.csv", (), Settings(seed=1, memory=10**10))
    found = told["found"]
    for key in ("records", "duplicates", "minimum_key", "risk", "identifiers"):
        assert found[key] == json.loads(json.dumps(whole[key])), key
    for one, other in zip(found["columns"], whole["columns"], strict=True):
        for key in ("name", "type", "distinct", "missing", "separation", "uniques"):
            assert one[key] == other[key]
    assert found["keys"][0] == json.loads(json.dumps(whole["keys"][0]))


STREAM_FILE = """\
data: {name}
method: quantiles
clusters: sampled
attributes:
  pay: {{}}
  note: {{keep: true}}
  ill: {{}}
requirement:
  - {{qid: [pay], k: 500}}
"""
# The same limit; `pay` and `note` differ in every record, so that their values alone do not fit.
STREAMED = """
import json, resource, sys
from pathlib import Path
from coterie.coordinator.results.verify import verify
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.methods.generalizing.large import anonymise_large
from coterie.onetable.large.stored import store
from coterie.onetable.methods.reading import load_table_file

folder, budget = Path(sys.argv[1]), int(sys.argv[2])

def release(name):
    out = folder / f"{name}-disk"
    out.mkdir()
    with anonymise_large(load_table_file(folder / f"{name}.yaml"), budget) as large:
        large.write(out)
    verify(out)

for kind in ("csv", "parquet"):
    release(f"small-{kind}")
anonymise_file(load_table_file(folder / "small-csv.yaml"))
used = int(Path("/proc/self/status").read_text().split("VmData:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + budget, used + budget))
for kind in ("csv", "parquet"):
    release(f"large-{kind}")
file = load_table_file(folder / "large-csv.yaml")
works = (lambda: anonymise_file(file)), (lambda: store(file, budget))
print(json.dumps([does_not_fit(work) for work in works]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts all memory on Linux only")
def test_a_stream_whose_values_all_differ_is_released_in_less_memory_than_they_take(tmp_path):
    for name, number in (("small", 3000), ("large", 400_000)):
        rng = np.random.default_rng(3)
        table = pa.table(
            {
                "pay": rng.permutation(number) + 0.5,
                "note": [f"a remark about the record {at}" for at in rng.permutation(number)],
                "ill": np.array(["cold", "flu", "gout"])[rng.integers(0, 3, number)],
            }
        )
        pacsv.write_csv(table, tmp_path / f"{name}.csv")
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=20_000)
        for kind in ("csv", "parquet"):
            path = tmp_path / f"{name}-{kind}.yaml"
            path.write_text(STREAM_FILE.format(name=f"{name}.{kind}"))
    done = subprocess.run(
        [sys.executable, "-c", DOES_NOT_FIT + STREAMED, str(tmp_path), str(BUDGET)],
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == [True, True], done.stderr[
        -3000:
    ]  # neither the table nor its codes fit

    file = load_table_file(tmp_path / "large-csv.yaml")
    made = anonymise_file(file)
    (tmp_path / "memory").mkdir()
    made.write(tmp_path / "memory")
    whole = (tmp_path / "memory" / "release.csv").read_bytes()
    for kind in ("csv", "parquet"):
        assert (tmp_path / f"large-{kind}-disk" / "release.csv").read_bytes() == whole
