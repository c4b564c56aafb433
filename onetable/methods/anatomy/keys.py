"""What a table file with `method: anatomy` must not ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from coterie.anonymity.anatomy.anatomy import COUNT, GROUP
from coterie.anonymity.specialization.specialize import Requirement


class _Attribute(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def in_qid(self) -> bool: ...
    @property
    def at_most(self) -> tuple[str, ...]: ...


def refusal(
    requirements: Sequence[Requirement], attributes: Sequence[_Attribute], class_name: str | None
) -> str | None:
    """Why anatomy would publish more, or other things, than was meant; None if it would not."""
    sensitive = {name for r in requirements for name in r.sensitive_columns}
    if not all(requirement.model for requirement in requirements):
        return (
            "'method: anatomy' needs 'sensitive' and a bound on it in every entry of 'requirement': "
            "k alone says nothing about who has which value"
        )
    plain = [a.name for a in attributes if not a.in_qid]
    for name in [*plain, *([] if class_name is None else [class_name])]:
        if name not in sensitive:
            return (
                f"'method: anatomy' would publish '{name}' beside exact quasi-identifiers; put it "
                "into the qid, name it as sensitive, or leave it out"
            )
    for attribute in attributes:
        if attribute.at_most:
            return (
                f"'method: anatomy' generalizes nothing: 'at_most' of '{attribute.name}' has no "
                "meaning"
            )
    names = {attribute.name for attribute in attributes} | {class_name}
    for name in (GROUP, COUNT):
        if name in names:
            return f"'method: anatomy' has a column '{name}' of its own: rename the table's"
    return None
