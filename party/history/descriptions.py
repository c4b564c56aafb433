"""In how many ways an analyst may describe a column of this party: `policy.descriptions`.

A job describes the columns that it uses: `values`, `taxonomy`, `cuts` or `range`, what to do about gaps,
and how identifiers are written. A column that does not fit is an answer, whatever its words are, and
by one description after another somebody finds out which values occur. So each new description of a
column counts, whether the column fits or not, before the data is read; the same one again is free. The
count is kept for a year, as a note of the books: digests of descriptions, and nothing of a table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

from coterie.base.errors import RefusedError
from coterie.jobs.file.document import Section, read_document
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.needs import Needs
from coterie.party.history.releases import DAY, History

_NOTE = "descriptions"
_WINDOW = 365  # days
_OF_GAPS = ("missing",)
_OF_IDENTIFIERS = ("id", "normalise", "deduplicate", "pad_to")
_NOT_OF_VALUES = ("party", "at_most")  # keys of an attribute that no value has to fit

Book = dict[
    str, dict[str, dict[str, int]]
]  # by coordinator and column: digests, and their last day


def described(job: Job, needs: Needs) -> dict[str, str]:
    """A digest of how the job describes each column that it reads here."""
    section = read_document(job.text, "job")
    given = section.optional("attributes")
    attributes = dict(given.section().entries()) if given is not None else {}
    gaps = _written(section, _OF_GAPS, job.files)
    found = {}
    for name in needs.columns.used:
        found[name] = gaps
        if name in attributes:
            inner = attributes[name].section()
            keys = [key for key, _ in inner.entries() if key not in _NOT_OF_VALUES]
            found[name] += _written(inner, sorted(keys), job.files)
    for name in needs.matching.by:
        found[name] = found.get(name, "") + _written(section, _OF_IDENTIFIERS, job.files)
    return {name: hashlib.sha256(text.encode()).hexdigest()[:32] for name, text in found.items()}


def _written(section: Section, keys: Collection[str], files: Mapping[str, bytes]) -> str:
    """These keys with their values; a file by its content, whatever its name is."""
    texts = []
    for key in keys:
        if (node := section.optional(key)) is not None:
            text = node.written()
            if key == "taxonomy":
                text = hashlib.sha256(files[node.text()]).hexdigest()
            texts.append(f"{key}: {text}\n")
    return "".join(texts)


class Descriptions:
    """The descriptions that coordinators have given."""

    def __init__(self, history: History) -> None:
        self._history = history

    def add(
        self, coordinator: str, analyst: Collection[str], found: Mapping[str, str], most: int
    ) -> None:
        """Notes how a job describes columns, or raises `RefusedError` if that is one way too many.

        `analyst` has the coordinators that count together with this one.
        """
        with self._history.lock:
            book, today = self._read(), int(self._history.clock() // DAY)
            for column, digest in found.items():
                known = {
                    one
                    for name in analyst
                    for one, day in book.get(name, {}).get(column, {}).items()
                    if today - day < _WINDOW
                }
                if digest not in known and len(known) >= most:
                    raise RefusedError(
                        f"policy.descriptions is {most}, and '{column}' was described in {most} other "
                        f"ways for '{coordinator}' within a year; describe it as in an earlier job"
                    )
            for column, digest in found.items():
                book.setdefault(coordinator, {}).setdefault(column, {})[digest] = today
            self._history.books.put("notes", _NOTE, book)

    def forget(self, limit: float | None) -> None:
        """Forgets descriptions that are older than this."""
        with self._history.lock:
            known = self._read()
            if limit is None or not known:
                return
            first = (self._history.clock() - limit) // DAY
            left = {
                name: {
                    column: {digest: day for digest, day in days.items() if day >= first}
                    for column, days in columns.items()
                }
                for name, columns in known.items()
            }
            self._history.books.put("notes", _NOTE, left)

    def _read(self) -> Book:
        return self._history.books.get("notes", _NOTE) or {}
