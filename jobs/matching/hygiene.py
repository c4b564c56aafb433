"""What may keep identifiers from matching, and which rule of `normalise` would help.

Records are recognised by equal identifiers, so that `7` and `7.0`, `Ann` and `ann ` are different people.
`profile` looks at one party's own columns: white space at the ends, capital and small letters mixed,
whole numbers written as decimal ones, dates in several forms, Unicode in several forms, and numbers
without the check digit that the others have. Each finding has the rule that would mend it, where there
is one. A simulation also counts how many records would match under each (`would_match`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from coterie.jobs.matching.rules import Rule

MOST_ROWS = 100_000  # of a column that are looked at
_SURE = 0.9  # the share of a column that must be of one sort to speak of exceptions
_FEWEST = 20  # values from which a check digit can be told from chance
_MOST_DIGITS = 5_000  # values whose check digits are computed
_FORMS = (
    ("%Y-%m-%d", r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$"),
    ("%d.%m.%Y", r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$"),
    ("%d/%m/%Y", r"^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$"),
    ("%Y/%m/%d", r"^[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}$"),
    ("%d-%m-%Y", r"^[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}$"),
)


@dataclass(frozen=True)
class Finding:
    """Something about a column; `rule` would mend it, `count` values are concerned."""

    column: str
    what: str
    count: int
    rule: Rule | None = None

    @property
    def proposal(self) -> str:
        """The rule as a job file has it."""
        if self.rule is None:
            return ""
        if self.rule.formats:
            forms = ", ".join(f'"{form}"' for form in self.rule.formats)
            return f"normalise: {{{self.column}: [{{date: [{forms}]}}]}}"
        return f"normalise: {{{self.column}: [{self.rule.name}]}}"

    def line(self, counts: bool = True) -> str:
        """One sentence; without `counts` it says no more than that there are such values."""
        number = f"{self.count:,} values" if counts else "some values"
        cure = f"; '{self.proposal}' would mend it" if self.rule else ""
        return f"column '{self.column}': {number} {self.what}{cure}"


def profile(
    table: pa.Table, columns: Sequence[str], declared: Mapping[str, Sequence[Rule]] | None = None
) -> list[Finding]:
    """What is found in these columns, other than what the `declared` rules mend."""
    found = []
    for name in columns:
        rules = {rule.name for rule in (declared or {}).get(name, ())}
        column = pc.drop_null(table.column(name).slice(0, MOST_ROWS)).cast(pa.string())
        if not len(column):
            continue
        found += [
            finding
            for finding in _profile_column(name, column)
            if finding.rule is None or not mends(finding.rule.name) & rules
        ]
    return found


def mends(rule: str) -> set[str]:
    """The rules that do what this one does, and more."""
    also = {"lower": {"upper"}, "nfc": {"nfkc"}, "trim": {"number", "digits"}}
    return {rule} | also.get(rule, set())


def _profile_column(name: str, column: pa.ChunkedArray) -> list[Finding]:
    trimmed = pc.utf8_trim_whitespace(column)
    found = []
    if spaces := _count(pc.not_equal(trimmed, column)):
        found.append(Finding(name, "have white space at an end", spaces, Rule("trim")))
    if forms := _count(pc.not_equal(pc.utf8_normalize(trimmed, form="NFC"), trimmed)):
        what = "write an accented letter as two characters"
        found.append(Finding(name, what, forms, Rule("nfc")))
    lowered = pc.utf8_lower(trimmed)
    letters = pc.not_equal(lowered, pc.utf8_upper(trimmed))
    capital = pc.not_equal(lowered, trimmed)
    if (mixed := _count(capital)) and mixed < _count(letters):
        found.append(
            Finding(name, "have capital letters, and others have none", mixed, Rule("lower"))
        )
    dates = _dates(name, trimmed)
    if dates is not None:
        return [*found, dates]
    numbers = _count(pc.match_substring_regex(trimmed, r"^[+-]?[0-9]+(\.[0-9]+)?$"))
    if numbers == len(column):
        decimal = _count(pc.match_substring_regex(trimmed, r"\.0+$"))
        if decimal:
            what = "are whole numbers with a decimal point, such as 7.0"
            found.append(Finding(name, what, decimal, Rule("number")))
    return found + _check_digits(name, trimmed)


def _count(mask: Any) -> int:
    return int(pc.sum(mask).as_py() or 0)


def _dates(name: str, column: pa.ChunkedArray) -> Finding | None:
    """Dates in another form than ISO 8601, or in several."""
    counts = {form: _count(pc.match_substring_regex(column, text)) for form, text in _FORMS}
    used = {form: count for form, count in counts.items() if count}
    if sum(used.values()) < _SURE * len(column) or list(used) == ["%Y-%m-%d"]:
        return None
    if "%d/%m/%Y" in used:
        parts = pc.extract_regex(column, r"^(?P<a>[0-9]{1,2})/(?P<b>[0-9]{1,2})/[0-9]{4}$")
        first, second = (pc.struct_field(pc.drop_null(parts), at).cast(pa.int32()) for at in (0, 1))
        if (pc.max(second).as_py() or 0) > 12 >= (pc.max(first).as_py() or 0):
            used = {("%m/%d/%Y" if form == "%d/%m/%Y" else form): n for form, n in used.items()}
    others = sum(count for form, count in used.items() if form != "%Y-%m-%d")
    sorts = "in several forms" if len(used) > 1 else "in another form than 2020-01-31"
    return Finding(name, f"are dates {sorts}", others, Rule("date", tuple(used)))


def _check_digits(name: str, column: pa.ChunkedArray) -> list[Finding]:
    """Numbers that lack, or fail, the check digit that nearly all others have."""
    numbers = column.filter(pc.match_substring_regex(column, r"^[0-9]{6,20}$"))
    digits = numbers.slice(0, _MOST_DIGITS).to_pylist()
    lengths = Counter(map(len, digits))
    if len(digits) < _FEWEST:
        return []
    usual, _ = lengths.most_common(1)[0]
    whole = [text for text in digits if len(text) == usual]
    for scheme, holds in _SCHEMES.items():
        good = sum(map(holds, whole))
        if len(whole) < _FEWEST or good < _SURE * len(whole):
            continue
        found = []
        if wrong := len(whole) - good:
            what = f"fail the check digit ({scheme}) that the others have"
            found.append(Finding(name, what, wrong))
        if short := lengths[usual - 1]:
            found.append(
                Finding(name, f"lack the check digit ({scheme}) that the others have", short)
            )
        return found
    return []


def _luhn(text: str) -> bool:
    total = 0
    for place, digit in enumerate(map(int, reversed(text))):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _ean(text: str) -> bool:
    return sum(d * (3 if at % 2 else 1) for at, d in enumerate(map(int, reversed(text)))) % 10 == 0


def _mod_11(text: str) -> bool:
    return sum(d * (at + 1) for at, d in enumerate(map(int, reversed(text)))) % 11 == 0


_SCHEMES: dict[str, Callable[[str], bool]] = {"Luhn": _luhn, "EAN": _ean, "modulo 11": _mod_11}
