"""The part of a report on an anatomised release: what is promised, and what is published raw."""

from __future__ import annotations

from coterie.base.text import numbered
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.markup import Content, foreign
from coterie.jobs.pages.models_in_words import in_words
from coterie.jobs.pages.page import Part, note, table
from coterie.onetable.pages import making_parts
from coterie.onetable.table_file import TableFile


def report_anatomised(file: TableFile, result: Claim) -> list[Part]:
    return [_promise(file, result), *making_parts(file, result)]


def _promise(file: TableFile, result: Claim) -> Part:
    """The promise of every requirement, the tables, and the warning."""
    promise: list[list[Content]] = []
    for requirement, entry in zip(
        file.requirements, result.entry("anonymity").items(), strict=False
    ):
        model: Content = "each group has at least k records"
        if requirement.model is not None:
            model = in_words(requirement.model, requirement.sensitive_columns)
        numbers = (entry.entry(key).integer(minimum=0) for key in ("k", "smallest", "groups"))
        promise.append([model, *(f"{number:,}" for number in numbers)])
    tables: list[list[Content]] = [
        [foreign(entry.entry("file").text()), foreign(", ".join(entry.entry("columns").texts()))]
        for entry in result.entry("sensitive_tables").items()
    ]
    raw = ", ".join(result.entry("raw").texts())
    unique = result.entry("risk").entry("uniques").integer(minimum=0)
    return Part(
        "The promise",
        [
            note(
                "The table is published in parts that are not linked person by person. Anybody who finds "
                "a person in the first part learns the number of a group; the other parts say which "
                "sensitive values the group has, and not who in it has which."
            ),
            note(
                "This is not k-anonymity. These columns are published unchanged, so anybody who "
                "knows a person sees whether the person is in the table: ",
                foreign(raw, 500),
                f". By them the table has {numbered(unique, 'unique record')}.",
            ),
            table(["promise", "k", "smallest group", "groups"], promise, (1, 2, 3), sentences=True),
            note("The files with the sensitive values, and their columns:"),
            table(["file", "columns"], tables),
        ],
        public=True,
    )
