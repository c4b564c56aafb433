"""What a partner's commitment tells of its columns: that they are equal to earlier ones, or are not."""

from functools import partial

import numpy as np
import pyarrow as pa

from coterie.jobs.data.table_digest import column_digests
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.run.party_run import INPUTS, agree
from coterie.party.books.people import commitment_key
from tests.views import assert_alike

JOB = parse_job("kind: intersect\nname: x\nparties: {a: {}, b: {}}\nid: ID\n", {})
COLUMNS = 40  # so that enough bits of digests are compared


def tables(world):
    """Every person is in the first class, or in the last."""
    codes = pa.array(np.full(50, ["first", "last"][world]))
    return pa.table({f"column {at}": codes for at in range(COLUMNS)})


def scene(world):
    def watched(channel, rng):
        agree(channel, JOB, rng=rng)

    def committed(channel, rng):
        key = rng.fork("key").bytes(32)
        agree(channel, JOB, rng=rng, inputs=column_digests(tables(world), key))

    return {"a": watched, "b": committed}


def test_a_commitment_tells_nothing_of_the_values():
    assert_alike(scene, "a", runs=3, drawn=[INPUTS.name])


def test_the_key_of_a_commitment_depends_on_every_byte_of_the_partys_key(tmp_path):
    def commitment(change):
        key = bytearray(range(32))
        if change is not None:
            key[change] ^= 1
        (tmp_path / "key").write_bytes(key)
        return commitment_key(tmp_path)

    found = set(map(partial(commitment), [None, *range(32)]))
    assert len(found) == 33
    assert {len(key) for key in found} == {32}
