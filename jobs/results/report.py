"""`report.html` and `public.html`: a result folder as a page for a person.

The verdict is that of `coterie verify`, computed from the folder when the page is written. The kind
of the job describes its result; this module writes the parts that are the same for every kind: who
requested the job, what was opened to whom, how long it took, the digests of its files. `public.html`
has only the release and its promise.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable
from pathlib import Path

from coterie.base.errors import CoterieError, VerificationError
from coterie.base.text import byte_count, duration
from coterie.jobs.file.job import Job
from coterie.jobs.file.result_file import Claim, read_claims
from coterie.jobs.pages.markup import Content, element, explained, foreign, listed
from coterie.jobs.pages.page import (
    Opinion,
    Part,
    facts,
    file_text,
    folded,
    moment,
    note,
    page,
    public_parts,
    table,
)
from coterie.jobs.results.sorts import JOB, NothingVerifiedError, ResultSort, verify

REPORT, PUBLIC = "report.html", "public.html"
_STEPS = 200  # whose seconds are shown
_CHECKED = "The files of this result were checked again, by code that had no part in making them:"
_FILES = 100  # whose digests are shown
_HINT = ": --data names the table"  # of the command `verify`, for those who have the table


def write_report(folder: Path, sort: ResultSort = JOB) -> None:
    """Writes both pages into a result folder."""
    opinion, result = judged(folder, sort), read_claims(folder)
    try:
        parts = sort.report(folder, result)
    except CoterieError as error:  # a faulty result has a verdict and no pictures
        parts = [Part("The result", [note(foreign(str(error), 500))], public=False)]
    words, known = sort.words(folder), list(parts)
    if words.job is not None:
        known += [_asked(words.job, result), _told(result), _spent(result)]
    known += _digests(folder, words.leaves)
    whole = page(_title(words.name), words.about, opinion, known)
    (folder / REPORT).write_text(whole, encoding="utf-8")
    public = page(words.title, [words.kind], _for_everybody(opinion), public_parts(parts))
    (folder / PUBLIC).write_text(public, encoding="utf-8")


def judged(folder: Path, sort: ResultSort) -> Opinion:
    """The verdict of `coterie verify`, as text for a page."""
    try:
        found = verify(folder, sort)
    except NothingVerifiedError as error:
        return Opinion("unchecked", "Nothing could be checked", [foreign(str(error), 500)])
    except VerificationError as error:
        return Opinion(
            "violated",
            "The promise does not hold",
            [foreign(str(error), 500), "Do not use or pass on this result."],
        )
    clauses = found["verdict"].removeprefix("holds: ").split("; ")
    lines: list[Content] = [foreign(clause, 300) for clause in clauses]
    lines += [
        [element("em", "Not checked: "), foreign(clause.removesuffix(_HINT), 300)]
        for clause in found["unchecked"]
    ]
    lines += [
        [element("em", "Warning: "), foreign(clause, 300)] for clause in found.get("warnings", ())
    ]
    if not (open_to := found.get("not_promised")):
        return Opinion("holds", "The promise holds", lines, _CHECKED)
    warned: list[Content] = [
        note(element("strong", "Not promised: "), foreign(f"{clause}.", 800)) for clause in open_to
    ]
    title = f"Each of the {len(found['requirements'])} entries holds, but not all columns together"
    return Opinion("partly", title, lines, _CHECKED, warned)


def _for_everybody(opinion: Opinion) -> Opinion:
    """The verdict without what is wrong: an error names folders, parties and values."""
    if opinion.state in ("holds", "partly"):
        return opinion
    more = f"{REPORT}, which the parties to this result have, says why."
    if opinion.state == "violated":
        more = f"Do not use or pass on this result. {more}"
    return Opinion(opinion.state, opinion.title, [more])


def _title(name: str) -> str:
    shown = foreign(name).content[0]
    return f"Report: {shown}" if isinstance(shown, str) else "Report"


def _asked(job: Job, result: Claim) -> Part:
    about = result.entry("job")
    simulated = about.entry("id").text() == ""
    who = (
        "This was a simulation on one machine: no party was asked."
        if simulated
        else "Every party below was asked, and its policy, or its operator, permitted the job."
    )
    rows: list[tuple[str, Content]] = [
        ("parties", listed(job.party_names)),
        ("purpose", foreign(job.purpose, 300) if job.purpose else "none is stated"),
        ("date", moment(about.entry("date").text())),
        ("version of Coterie", foreign(about.entry("version").text(), 40)),
        ("digest of the job", _mono(about.entry("digest"))),
    ]
    if not simulated:
        rows.insert(2, ("number of the job", _mono(about.entry("id"))))
    return Part(
        "What was asked",
        [note(who), facts(rows), folded("The job file", file_text(job.text, "the job file"))],
        public=False,
    )


def _mono(claim: Claim) -> Content:
    return element("span", foreign(claim.text(), 100), class_="mono")


def _told(result: Claim) -> Part:
    """What was opened, to whom and why."""
    rows: list[list[Content]] = []
    for entry in result.entry("opened").items():
        to = entry.entry("to").texts()
        rows.append([
            foreign(entry.entry("what").text()), explained(entry.entry("meaning").text(), 500),
            listed(to, 20), explained(entry.entry("why").text(), 500), str(entry.entry("times").integer(minimum=0)),
        ])  # fmt: skip
    return Part(
        "What was told to whom",
        [
            note(
                "Everything that left the encrypted computation as a readable value. What is not in "
                "this list, nobody was told."
            ),
            table(["what", "meaning", "told to", "why", "times"], rows, (4,), sentences=True),
        ],
        public=False,
    )


def _spent(result: Claim) -> Part:
    seconds = result.entry("seconds").entries()
    traffic = result.entry("parties").entries()
    total = sum(claim.number() for claim in seconds.values())
    return Part(
        "Time and traffic",
        [
            note(f"The job took {duration(total)}. A step takes as long as its slowest party."),
            table(
                ["step", "seconds"],
                [
                    [foreign(name), f"{claim.number():.2f}"]
                    for name, claim in itertools.islice(seconds.items(), _STEPS)
                ],
                (1,),
            ),
            note("What each party sent to the others and received from them, encrypted:"),
            table(
                ["party", "sent", "received"],
                [
                    [
                        foreign(name),
                        byte_count(claim.entry("sent_bytes").integer()),
                        byte_count(claim.entry("received_bytes").integer()),
                    ]
                    for name, claim in traffic.items()
                ],
                (1, 2),
            ),
        ],
        public=False,
    )


def _digests(folder: Path, names: Iterable[str]) -> list[Part]:
    """The files of the release, or those in folders of these names, each with its digest."""
    places = [folder / name for name in names]
    files = [
        path for place in places for path in (place, *sorted(place.rglob("*"))) if path.is_file()
    ]
    rows: list[list[Content]] = []
    for path in files[:_FILES]:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        rows.append(
            [foreign(str(path.relative_to(folder))), element("span", digest, class_="mono")]
        )
    if not rows:
        return []
    return [
        Part(
            "Digests",
            [
                note(
                    "Whoever has a copy of a file can compute its SHA-256 again, and see whether it is "
                    "the file that this page is about."
                ),
                table(["file", "SHA-256"], rows, sentences=True),
                *([note("Further files are not listed here.")] if len(files) > _FILES else []),
            ],
            public=False,
        )
    ]
