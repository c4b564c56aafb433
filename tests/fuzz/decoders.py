"""Every decoder of bytes that others wrote: inputs to begin with, and what it may answer."""

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import yaml

from coterie.anonymity.table.taxonomy import read_taxonomy
from coterie.base.errors import CoterieError
from coterie.jobs.file import document
from coterie.jobs.file.result_file import read_claims
from coterie.jobs.kinds.integrate.release_table import Coded, read_share, write_share
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.run.answers_file import AnswersFile, finished_here
from coterie.party.books.audit import AuditLog
from coterie.party.books.audit_check import verify
from coterie.party.books.ledger_lines import LedgerFile
from coterie.party.config import load_party
from coterie.party.history.releases import History, Remembered
from coterie.party.records import JOURNAL, Book
from coterie.protocols.messaging.kept import Answer
from coterie.protocols.messaging.wire import WireError, decode, encode
from coterie.protos.peers_pb2 import Farewell, Frame
from coterie.transport.frames import FrameCheck, FrameError, closing
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


@dataclass(frozen=True)
class Decoder:
    """`decode` may return, or raise one of `errors`; anything else is a fault of the decoder."""

    seeds: Callable[[], list[bytes]]
    decode: Callable[[bytes, Path], object]
    errors: tuple[type[Exception], ...]


def _wire_seeds() -> list[bytes]:
    values = [
        [1, -(2**70), "text", b"bytes", ["list", [0]]],
        [np.arange(20, dtype=np.uint32).reshape(4, 5), np.zeros(0, np.float64)],
        [b"x" * 5000, np.ones(3, bool)],
    ]
    return [b"".join(bytes(part) for part in encode(value)) for value in values]


def _wire(data: bytes, _: Path) -> None:
    values = decode(data)
    # There is one encoding of each value.
    assert b"".join(bytes(part) for part in encode(values)) == data


def _frame_seeds() -> list[bytes]:
    first = Frame(
        session="s", step="step", sequence=0, size=40, chunk=b"0" * 16
    ).SerializeToString()
    return [first, Frame(chunk=b"1" * 24).SerializeToString(), closing(Farewell(failed=True, error="why"))]  # fmt: skip


def _frames(data: bytes, _: Path) -> None:
    check = FrameCheck("s", 1 << 20)
    for at in range(0, len(data), 61):  # as a stream of frames, and as one
        check.admit(data[at : at + 61])


def _one_frame(data: bytes, _: Path) -> None:
    FrameCheck("s", 1 << 20).admit(data)


def _job(data: bytes, _: Path) -> None:
    text, _, rest = data.partition(b"\x00")
    named = {"Sex.csv": rest, "Job.csv": _TAXONOMY}
    files = {path: held for path, held in named.items() if path.encode() in text}
    parse_job(text.decode("utf-8", "replace"), files)


_MARK = yaml.Mark("job", 0, 0, 0, None, None)
_RESOLVER = yaml.resolver.Resolver()


Tree = Any  # a text, or a list of pairs of a key and a tree


def _tree(data: bytes) -> Tree:
    """The tree that lines describe: tabs are its depth, `key=value` is a text, `key` has others below.

    Whatever the lines are, they describe a tree.
    """
    root: list[tuple[str, Tree]] = []
    above = [root]
    for line in data.decode("utf-8", "replace").split("\n"):
        text = line.lstrip("\t")
        del above[min(len(line) - len(text), document.DEEPEST - 2) + 1 :]
        key, mark, value = text.partition("=")
        if mark:
            above[-1].append((key, value))
        elif text:
            below: list[tuple[str, Tree]] = []
            above[-1].append((key, below))
            above.append(below)
    return root


def _node(tree: Tree) -> yaml.Node:
    """The node that YAML would give for it; entries of lists have the key `-`."""
    if isinstance(tree, str):
        tag = _RESOLVER.resolve(yaml.ScalarNode, tree, (True, False))
        return yaml.ScalarNode(tag, tree, _MARK, _MARK)
    if tree and all(key == "-" for key, _ in tree):
        items = [_node(held) for _, held in tree]
        return yaml.SequenceNode("tag:yaml.org,2002:seq", items, _MARK, _MARK)
    entries = [(_node(key), _node(held)) for key, held in tree]
    return yaml.MappingNode("tag:yaml.org,2002:map", entries, _MARK, _MARK)


def _job_tree(data: bytes, _: Path) -> None:
    """A job below its YAML: five times faster, and every input comes to the keys."""
    files = {path: _TAXONOMY for path in ("Sex.csv", "Job.csv") if path.encode() in data}
    made = _node(_tree(data))
    with patch.object(document.yaml, "compose", lambda text, Loader: made):
        parse_job("kind: any", files)


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
    ]


def _party(data: bytes, folder: Path) -> None:
    if not (folder / "bank.key").exists():
        Authority(folder).issue("bank")
    path = folder / "party.yaml"
    path.write_bytes(data)
    load_party(path)


def _taxonomy(data: bytes, _: Path) -> None:
    found = read_taxonomy(data, "taxonomy.csv")
    assert len(set(found.leaves)) == len(found.leaves) == found.last[0]


def _journal_seeds() -> list[bytes]:
    job = "ab" * 16
    lines = [
        {"event": "proposed", "job": job, "coordinator": "analyst", "name": "n", "kind": "count", "digest": "d"},
        {"event": "state", "job": job, "state": "WAITING", "time": 1.5},
        {"event": "step", "job": job, "step": "count"},
        {"event": "state", "job": job, "state": "FINISHED", "records": 3, "exit_code": 0},
    ]  # fmt: skip
    return ["".join(json.dumps(line) + "\n" for line in lines[:n]).encode() for n in (2, 4)]


def _journal(data: bytes, folder: Path) -> None:
    (folder / JOURNAL).write_bytes(data)
    before = data.count(b"\n")
    Book(folder)
    assert (folder / JOURNAL).read_bytes().count(b"\n") >= before  # no line is lost


def _ledger_seeds() -> list[bytes]:
    lines = [
        {"job": "j", "name": "n", "time": "t", "contributions": {"bank": 3, "lender": 4}, "fault": "", "open": False},
        {"partner": "bank", "job": "j", "time": "t"},
    ]  # fmt: skip
    return ["".join(json.dumps(line) + "\n" for line in lines).encode()]


def _ledger(data: bytes, folder: Path) -> None:
    (folder / "ledger.jsonl").write_bytes(data)
    LedgerFile(folder / "ledger.jsonl").read()


def _history_seeds() -> list[bytes]:
    job = "ab" * 16
    whole = Remembered(
        job, "d", "n", "count", "analyst", ["bank"], "", 1.5, ["ID"], 3, "r", {"Sex": "classes"}
    )
    lines = [asdict(whole), {"job": job, "groups": {"Sex": 2}}]
    return ["".join(json.dumps(line) + "\n" for line in lines[:n]).encode() for n in (1, 2)]


def _history(data: bytes, folder: Path) -> None:
    history = History(folder)
    history.folder.mkdir(exist_ok=True)
    (history.folder / "releases.jsonl").write_bytes(data)
    history.tidy()
    for one in history.entries():
        one.shown()


def _share_seeds() -> list[bytes]:
    columns = {
        "Sex": Coded(np.array([0, 1, 1, 0], np.int8), ("F", "M")),
        "Job": Coded(np.array([0, 0, 0, 0], np.int8), ("Any job",)),
    }
    with tempfile.TemporaryDirectory() as folder:
        write_share(columns, Path(folder))
        return [next(Path(folder).iterdir()).read_bytes()]


def _share(data: bytes, folder: Path) -> None:
    (folder / "columns.arrow").write_bytes(data)
    for column in read_share(folder, "bank").values():
        assert all(isinstance(column.values[code], str) for code in column.codes)


def _result(data: bytes, folder: Path) -> None:
    (folder / "result.json").write_bytes(data)
    read_claims(folder)


def _audit_seeds() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.log"
        log = AuditLog(path)
        for number in range(3):
            log.note("examined", coordinator="analyst", job=f"{number}")
        log.close()
        return [path.read_bytes()]


def _audit(data: bytes, folder: Path) -> None:
    for old in folder.glob("audit*"):
        old.unlink()
    path = folder / "audit.log"
    path.write_bytes(data)
    with contextlib.suppress(CoterieError):
        verify(path)
    log = AuditLog(path)  # what a server does at its start, whatever it finds
    log.note("examined", coordinator="analyst")
    log.close()
    assert path.read_bytes().endswith(b"\n")


def _answers_seeds() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        answers = AnswersFile(path, b"data")
        answers.read()
        for number in range(3):
            answers.append(
                Answer(b"token", f"round {number}", (("sum", ("bank",), 1),), bytes([number]))
            )
        answers.close()
        return [path.read_bytes()]


def _answers(data: bytes, folder: Path) -> None:
    (folder / "answers").write_bytes(data)
    finished_here(folder)
    answers = AnswersFile(folder / "answers", b"data")
    try:
        found = answers.read()
        answers.append(Answer(b"token", "one more", (), b"1"))
    finally:
        answers.close()
    again = AnswersFile(folder / "answers", b"data")
    try:
        assert len(again.read()) == len(found) + 1  # nothing torn stands before the new one
    finally:
        again.close()


_OWN = (CoterieError,)
DECODERS = {
    "wire": Decoder(_wire_seeds, _wire, (WireError,)),
    "frame": Decoder(_frame_seeds, _one_frame, (FrameError,)),
    "frames": Decoder(_frame_seeds, _frames, (FrameError,)),
    "job file": Decoder(_job_seeds, _job, _OWN),
    "job": Decoder(_job_tree_seeds, _job_tree, _OWN),
    "history": Decoder(_history_seeds, _history, _OWN),
    "party file": Decoder(_party_seeds, _party, _OWN),
    "taxonomy": Decoder(lambda: [_TAXONOMY], _taxonomy, _OWN),
    "journal": Decoder(_journal_seeds, _journal, _OWN),
    "ledger": Decoder(_ledger_seeds, _ledger, _OWN),
    "release share": Decoder(_share_seeds, _share, _OWN),
    "audit log": Decoder(_audit_seeds, _audit, _OWN),
    "answers": Decoder(_answers_seeds, _answers, _OWN),
    "result": Decoder(lambda: [b'{"records": 3, "job": {"version": "0.1.0"}}'], _result, _OWN),
}
