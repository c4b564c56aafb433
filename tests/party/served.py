"""What tests of a served party share."""

import yaml

from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import wait_for

COMMON = [f"p{i}" for i in range(2, 20)]


def common(houses, name, job_id):
    text = (houses.state(name) / "jobs" / job_id / "kept" / "common.csv").read_text()
    return sorted(text.replace('"', "").split()[1:], key=lambda p: int(p[1:]))


def until_met(houses, job_id, *names):
    """Waits until these parties, whose servers are in this process, have streams to each other."""

    def met():
        links = [s._incoming[n] for s in houses.sessions(job_id) for n in names if n in s.peers]
        return sum(link.opened for link in links) == len(names) * (len(names) - 1)

    wait_for(met, "the parties to meet")


def states(decisions):
    return {name: pb.State.Name(decision.state) for name, decision in decisions.items()}


def change(job, **changes):
    content = yaml.safe_load(job)
    for key, value in changes.items():
        if value is None:
            content.pop(key)
        else:
            content[key] = value
    return yaml.safe_dump(content, sort_keys=False)
