"""A server without memory for another thread: the job says so, and the server answers on."""

import re
import resource
from pathlib import Path

import pytest

from coterie.protos import jobs_pb2 as pb

MB = 1 << 20


@pytest.mark.slow
@pytest.mark.parametrize("spare", [4, 20])
def test_a_job_without_memory_for_its_threads_blames_the_machine_and_the_server_answers(
    houses, spare
):
    houses.heartbeat = (0.2, 10.0)
    for name in houses.names:
        houses.write(name)
    houses.spawn_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    pid = houses.processes["card"].pid
    status = Path(f"/proc/{pid}/status").read_text()
    used = int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) * 1024
    before = resource.prlimit(pid, resource.RLIMIT_AS, (used + spare * MB, -1))
    coordinator.queue(job_id)
    assert coordinator.end(job_id, "lender").culprit == "card"
    resource.prlimit(pid, resource.RLIMIT_AS, before)
    last = coordinator.end(job_id, "card")
    assert (last.exit_code, last.culprit) == (9, "card")
    assert "memory" in last.error
    description = coordinator.stubs["card"].Describe(pb.DescribeRequest(), timeout=60)
    assert description.party == "card"
