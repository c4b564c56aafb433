"""A first party file: one organisation's server, its table, and a policy of what may leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coterie.onetable.advice.advise import advise_source
from coterie.onetable.advice.proposal import written
from coterie.onetable.advice.suggestion import Wishes
from coterie.onetable.starting.look import Looked, Roles, candidates_for_id, roles

KINDS = "identify, intersect, integrate"


@dataclass(frozen=True)
class PartyPlan:
    """What the steward has said about the server and its partners."""

    looked: Looked
    name: str
    peers: Mapping[str, str]
    coordinators: tuple[str, ...]
    identifiers: tuple[str, ...] = ()
    class_name: str | None = None
    listen: str = "0.0.0.0:7000"
    certificates: Path = Path()
    wishes: Wishes = field(default_factory=Wishes)


def party_text(plan: PartyPlan, out: Path) -> str:
    """The text of the party file `out`."""
    looked = plan.looked
    identifiers = plan.identifiers or tuple(candidates_for_id(looked)[:1])
    found = roles(looked, identifiers, [plan.class_name] if plan.class_name else [])
    advice = advise_source(looked.source, looked.data(out.parent), plan.wishes, out.parent)
    folder = plan.certificates
    peers = [f"  {name}: {{address: {written(place)}}}" for name, place in plan.peers.items()]
    tls = ", ".join(
        f"{key}: {written(str(folder / file))}"
        for key, file in (
            ("certificate", f"{plan.name}.crt"),
            ("key", f"{plan.name}.key"),
            ("authority", "ca.crt"),
        )
    )
    return "\n".join(
        [
            "# A party file of 'coterie init party'. Look through it, then:",
            f"#   coterie party check {out}",
            f"#   coterie party serve {out}",
            "# Every key is in docs/party.md. Whatever the policy does not list is refused.",
            "",
            "# this organisation, as in its certificate and in job files",
            f"name: {plan.name}",
            "# where this server listens; 0.0.0.0 stands for all interfaces",
            f"listen: {written(plan.listen)}",
            "# made by 'coterie certs request', or for a trial by 'coterie certs issue'",
            f"tls: {{{tls}}}",
            "# the partners' servers; a job cannot name others",
            *(["peers:", *peers] if peers else ["peers: {}  # add PARTNER: {address: HOST:PORT}"]),
            f"# the table: {looked.described()}; only columns of the policy are read",
            f"data: {looked.data(out.parent)}",
            *(f"# look here: {remark}" for remark in looked.remarks),
            "# what the server remembers: jobs, the audit log, the history. Include it in backups",
            "state: state",
            "# to let only named people approve jobs, add: operators: {ann: {certificate: ann.crt}}",
            "",
            "policy:",
            *_policy(plan, found, advice["k"]),
            "",
        ]
    )


def _policy(plan: PartyPlan, found: Roles, k: int) -> list[str]:
    usable = ", ".join(written(column.name) for column in found.usable)
    matched = ", ".join(map(written, found.identifiers))
    together = f"[{matched}]" if len(found.identifiers) > 1 else matched
    lines = [
        "  # who may propose jobs, by certificate",
        f"  coordinators: [{', '.join(plan.coordinators)}]",
        "  # what kinds of jobs: which columns single people out; which people are common; one",
        "  # anonymous table. Others, such as count and aggregate, need 'exact' or a 'budget', too",
        f"  kinds: [{KINDS}]",
        "  # the partners that a job may have",
        f"  peers: [{', '.join(plan.peers)}]",
        "  columns:",
        "    # people are matched by it; a partner learns which of its own people are here, too",
        f"    id: [{together}]" if matched else "    id: []  # no column identifies people",
        "    # what jobs may compute with; a partner learns no value from that alone",
        f"    use: [{usable}]",
        "    # what a release may show, in groups of at least smallest_k people",
        f"    release: [{usable}]",
        *(f"    # not listed: {name}: {why}" for name, why in found.left_out.items()),
    ]
    if plan.class_name is not None:
        lines += [
            "    # all parties of a job learn it of every common person, record by record",
            f"    class: [{written(plan.class_name)}]",
        ]
    return [
        *lines,
        "  # no smaller group is released; 'coterie advise' proposes this number for the table",
        f"  smallest_k: {k}",
        "  # every permitted job waits until you approve it; 'auto' would start it at once",
        "  consent: manual",
    ]
