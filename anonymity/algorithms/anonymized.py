"""The result of every single-table algorithm: generalized columns of the records that stay.

An algorithm takes a `Table` and its requirements and returns an `Anonymized` table. The release
does not contain suppressed records, not even as rows of stars, since such rows would count as a
group when the release is read again. The utility measures charge for suppressed records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import Released, audit
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Generalized, Table
from coterie.anonymity.utility.measures import Utility, measured, measured_by_use
from coterie.base.arrays import Array


@dataclass(frozen=True)
class Anonymized:
    """An anonymous version of `table`: the columns of the records `kept`, in their order."""

    method: str
    table: Table
    kept: Array
    columns: Mapping[str, Generalized]
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def suppressed(self) -> int:
        return self.table.records - len(self.kept)

    def released(self) -> dict[str, Released]:
        """The generalized columns, the sensitive columns and the class, as `audit` reads them."""
        found = {
            name: Released(column.codes.astype(np.int64), column.labels)
            for name, column in self.columns.items()
        }
        for name, labels in self.table.labels.items():
            found[name] = Released(labels.codes[self.kept].astype(np.int64), labels.values)
        return found

    def anonymity(self, requirements: Sequence[Requirement]) -> list[dict[str, Any]]:
        """The anonymity that is counted anew on the release; a violation is an error."""
        table = self.released()
        return [audit(table, r.qid, r.k, r.sensitive, r.model) for r in requirements]

    def utility(self) -> Utility:
        return measured(self.table, self.columns, self.kept)

    def utility_by_use(self, class_name: str | None = None) -> Utility:
        """All measures, with the errors of random counts and of a classifier of the class."""
        classes = None if class_name is None else self.table.labels[class_name]
        return measured_by_use(self.table, self.columns, self.kept, classes)
