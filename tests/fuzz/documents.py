"""The fuzzed documents that people write: job files, party files and taxonomies."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from coterie.anonymity.table.taxonomy import read_taxonomy
from coterie.jobs.file import document
from coterie.jobs.file.plain_yaml import DEEPEST, bare_tag
from coterie.jobs.kinds.job_file import parse_job
from coterie.party import config
from coterie.trust.identity import load_identity, load_pin
from tests.fuzz.decoder import Decoder, put
from tests.fuzz.forms import block, word
from tests.fuzz.mutations import line
from tests.jobs.loans import JOB_FILE
from tests.party.authority import Authority

_HEAD = "name: n\nparties:\n  lender: {address: 127.0.0.1:7001}\n  bank: {address: 127.0.0.1:7002}\nid: [ID, Name]\n"
_BODY = "class: Class\nattributes:\n  Sex: {party: lender, values: [F, M]}\n  Age: {party: bank, cuts: [30, 50]}\n"
_VALUES = (
    "attributes:\n  Sex: {party: lender, values: [F, M]}\n  Age: {party: bank, range: [0, 120]}\n"
)
_POOLED = f"{_HEAD.replace('id: [ID, Name]', 'partition: horizontal')}"
JOBS = [
    f"kind: intersect\n{_HEAD}protocol: ring\nreveal: pairwise\nnormalise: [trim, lower]\n",
    f"kind: count\n{_HEAD}{_BODY}tables: [[Sex, Age], [Age, Class]]\nminimum: 5\nzeros: show\n",
    f"kind: tree\n{_HEAD}{_BODY}max_depth: 3\nminimum: 20\nprune: true\npredict: bank\n",
    f"kind: bayesnet\n{_HEAD}{_BODY}order: [Sex, Age]\nmax_parents: 1\nparameters: true\n",
    f"kind: bayesnet\n{_HEAD}{_BODY}structure: naive\nkeep: risk\n",
    f"kind: predict\n{_HEAD}model: risk\nattributes: {{Sex: {{party: lender}}, Age: {{party: bank}}}}\nrecipients: all\n",
    f"kind: aggregate\n{_HEAD}{_VALUES}by: [Sex]\nmeasures: [{{count: true}}, {{sum: Age}}, {{quantile: [Age, 0.5]}}]\n"
    "minimum: 5\nround: 10\n",
    f"kind: rules\n{_HEAD}attributes:\n  Sex: {{party: lender, values: [F, M]}}\n  Age: {{party: bank, cuts: [30, 50]}}\n"
    "support: 0.1\nconfidence: 0.6\nlongest: 3\n",
    f"kind: identify\n{_HEAD}attributes: {{Sex: {{party: lender}}, Age: {{party: bank}}}}\npopulation: 90000\nalpha: 0.1\n",
    f"kind: regress\n{_POOLED}model: logistic\noutcome: Class\nfeatures: [Age, Sex]\nminimum: 3\n"
    "attributes: {Sex: {values: [F, M]}, Class: {values: [N, Y]}}\n",
    f"kind: cluster\n{_POOLED}attributes: {{Age: {{}}}}\nclusters: 2\nminimum: 3\niterations: 9\n",
]


def _job(data: bytes, _: Path) -> None:
    text, _, rest = data.partition(b"\x00")
    named = {"Sex.csv": rest, "Job.csv": _TAXONOMY}
    files = {path: held for path, held in named.items() if path.encode() in text}
    parse_job(text.decode("utf-8", "replace"), files)


_MARK = yaml.Mark("job", 0, 0, 0, None, None)
_KEPT_LINES = 20_000  # most lines of an input are those of other inputs, too


@functools.lru_cache(_KEPT_LINES)
def _text(text: str) -> yaml.ScalarNode:
    return yaml.ScalarNode(bare_tag(text), text, _MARK, _MARK)


@functools.lru_cache(_KEPT_LINES)
def _line(line: str) -> tuple[int, yaml.ScalarNode, yaml.ScalarNode | None]:
    """The depth of a line, its key, and its value if it has one."""
    text = line.lstrip("\t")
    key, mark, value = text.partition("=")
    return min(len(line) - len(text), DEEPEST - 2) + 1, _text(key), _text(value) if mark else None


def _node(data: bytes) -> yaml.Node:
    """The node that YAML would give for the tree that lines describe.

    Tabs are the depth, `key=value` is a text, and `key` has others below; entries of lists have the key
    `-`. Whatever the lines are, they describe a tree.
    """
    root = yaml.MappingNode("tag:yaml.org,2002:map", [], _MARK, _MARK)
    above = [root]
    nodes = [root]
    for text in data.decode("utf-8", "replace").replace("\0", "").split("\n"):
        depth, key, held = _line(text)
        del above[depth:]
        if held is not None:
            above[-1].value.append((key, held))
        elif key.value:
            below = yaml.MappingNode("tag:yaml.org,2002:map", [], _MARK, _MARK)
            above[-1].value.append((key, below))
            above.append(below)
            nodes.append(below)
    for node in nodes:
        if node.value and all(key.value == "-" for key, _ in node.value):
            node.__class__ = yaml.SequenceNode
            node.tag = "tag:yaml.org,2002:seq"
            node.value = [held for _, held in node.value]
    return root


def _job_tree(data: bytes, _: Path) -> None:
    """A job below its YAML: five times faster, and every input comes to the keys."""
    files = {path: _TAXONOMY for path in ("Sex.csv", "Job.csv") if path.encode() in data}
    made = _node(data)
    composed = document.compose
    document.compose = lambda text: made
    try:
        parse_job("kind: any", files)
    finally:
        document.compose = composed


def _lines(value: Any, depth: int = 0) -> Iterator[str]:
    pairs = value.items() if isinstance(value, dict) else (("-", held) for held in value)
    for key, held in pairs:
        plain = isinstance(held, str)
        yield "\t" * depth + (f"{key}={held}" if plain else key)
        if not plain:
            yield from _lines(held, depth + 1)


def _job_tree_seeds() -> list[bytes]:
    jobs = (yaml.load(text, yaml.BaseLoader) for text in (JOB_FILE, *JOBS))
    return ["\n".join(_lines(job)).encode() for job in jobs]


_TAXONOMY = b"Nurse;Care;Any\nDoctor;Care;Any\nCook;Any;Any\n"


def _job_seeds() -> list[bytes]:
    return [JOB_FILE.encode() + b"\x00" + b"F;Any\nM;Any\n", *(job.encode() for job in JOBS)]


def _party_seeds() -> list[bytes]:
    return [
        b"name: bank\nlisten: 127.0.0.1:7001\ntls: {certificate: bank.crt, key: bank.key, authority: ca.crt}\n"
        b"data: people.csv\nstate: state\npeers:\n  lender: {address: 127.0.0.1:7002}\nmemory: 64MB\n"
        b"policy:\n  coordinators: [analyst]\n  kinds: [integrate, count]\n  peers: [lender]\n"
        b"  columns: {use: [ID], release: [Sex]}\n  smallest_k: 4\n  consent: manual\nlimits: {running: 2}\n",
        b"name: bank\nlisten: '[::]:0'\ntls: {certificate: bank.crt, key: bank.key, authority: ca.crt}\nstate: s\n"
        b"peers: {lender: {address: lender:7, certificate: [lender.crt]}}\nheartbeat: {interval: 1, deadline: 9}\n"
        b"tables:\n  new:\n    data: {csv: a.csv, delimiter: ';', decimal: ','}\n    where: {Age: {at_least: 18, at_most: 65}}\n"
        b"    exclude: {data: b.csv, on: [ID]}\n    policy: {coordinators: {analyst: {certificate: analyst.crt}}}\n"
        b"  old: {data: {sqlite: a.db, query: SELECT 1}, policy: {output: ask, answer_within: 3d}}\n"
        b"policy:\n  most_owed: 2.5\n  budget: {epsilon: 3, delta: 1e-6, days: 9}\n  repeat: {window: 90d, k: 5, id: ID}\n"
        b"retention: {kept: 30d, audit: 12h, models: 5m}\nnotify: {command: [mail, me], on: [failed]}\naudit_head: h\n",
    ]


_loaded = functools.lru_cache(100)(config.load_identity)  # certificates and keys stay the same
_pinned = functools.lru_cache(100)(
    lambda name, paths, revoked: load_pin(name, list(paths), revoked)
)


def _party(data: bytes, folder: Path) -> None:
    path = folder / "party.yaml"
    if not path.exists():
        authority = Authority(folder)
        for name in ("bank", "lender", "analyst"):
            authority.issue(name)
    put(path, data)
    config.load_identity = _loaded
    config.load_pin = lambda name, paths, revoked: _pinned(name, tuple(paths), revoked)
    try:
        config.load_party(path)
    finally:
        config.load_identity, config.load_pin = load_identity, load_pin


def _taxonomy(data: bytes, _: Path) -> None:
    found = read_taxonomy(data, "taxonomy.csv")
    assert len(set(found.leaves)) == len(found.leaves) == found.last[0]


DECODERS = {
    "job file": Decoder(_job_seeds, _job, changes=(word, word, block)),
    "job": Decoder(_job_tree_seeds, _job_tree, changes=(word, word, line, block)),
    "party file": Decoder(_party_seeds, _party, changes=(word, word, block)),
    "taxonomy": Decoder(lambda: [_TAXONOMY], _taxonomy, changes=(word, word, line, block)),
}
