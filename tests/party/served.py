"""What tests of a served party share."""

import yaml

from coterie.protos import jobs_pb2 as pb

COMMON = [f"p{i}" for i in range(2, 20)]


def common(houses, name, job_id):
    text = (houses.state(name) / "jobs" / job_id / "kept" / "common.csv").read_text()
    return sorted(text.replace('"', "").split()[1:], key=lambda p: int(p[1:]))


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
