"""The file of `coterie perturb`: which columns get how much noise.

    data: people.csv
    method: perturb
    id: ID                                          # left out
    class: Class                                    # released as it is
    missing: drop                                   # error (the default) or drop
    attributes:
      Age:    {range: [17, 90], noise: 50%}         # the 95 % interval, as a share of the range
      Income: {range: [0, 200000], noise: 100%, law: uniform}
      Smokes: {values: ["yes", "no"], keep: 0.7}    # randomized response

Every attribute says what happens to it: a column without noise would identify the records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from coterie.anonymity.randomization.noise import LAWS, Noise, noise_for
from coterie.anonymity.table.scales import NUMBER
from coterie.jobs.data.scaled import read_limits
from coterie.jobs.file.document import Node
from coterie.onetable.table_file import MethodFile, begin_method_file, load_method_file

PERTURB = "perturb"
MOST_VALUES = 1_000


@dataclass(frozen=True)
class Perturbed:
    """A column and what is done to it: noise within limits, or a response among values."""

    name: str
    limits: tuple[float, float] = (0.0, 1.0)
    noise: Noise | None = None
    values: tuple[str, ...] = ()
    keep: float = 1.0


@dataclass(frozen=True, kw_only=True)
class PerturbFile(MethodFile):
    class_name: str | None
    drop: bool
    attributes: tuple[Perturbed, ...]

    @property
    def columns(self) -> list[str]:
        """The columns of the release, in its order."""
        names = [attribute.name for attribute in self.attributes]
        return names if self.class_name is None else [*names, self.class_name]


def load_perturb_file(path: Path) -> PerturbFile:
    return load_method_file(path, parse_perturb_file)


def parse_perturb_file(text: str, folder: Path, file: str) -> PerturbFile:
    """The typed file. Every mistake is a `UsageError` that names the key and the line."""
    section, source, stored = begin_method_file(text, folder, file, PERTURB)
    id_node, class_node = section.optional("id"), section.optional("class")
    left_out = id_node.texts() if id_node else []
    class_name = class_node.text() if class_node else None
    attributes = []
    node = section.required("attributes")
    for name, inner in node.section().entries():
        if name in left_out:
            raise inner.error("is a column of 'id', which is never released")
        if name == class_name:
            raise inner.error("is the class, which is released without being listed")
        attributes.append(_attribute(name, inner))
    if not attributes:
        raise node.error("names no attribute")
    if class_node and class_name in left_out:
        raise class_node.error("is a column of 'id', which is never released")
    missing = section.read("missing", lambda found: found.choice("error", "drop"), "error")
    section.close()
    return PerturbFile(
        source=source,
        class_name=class_name,
        drop=missing == "drop",
        attributes=tuple(attributes),
        text=stored,
        method=PERTURB,
    )


def _attribute(name: str, node: Node) -> Perturbed:
    section = node.section()
    noise, keep = section.optional("noise"), section.optional("keep")
    if (noise is None) == (keep is None):
        raise node.error(
            "must have one of the keys 'noise', for numbers, and 'keep', for categories"
        )
    if noise is not None:
        scale, limits = read_limits(section.required("range"))
        if scale is not NUMBER:
            raise node.error(f"has a range of {scale.name}s; noise is for numbers")
        law = section.read("law", lambda found: found.choice(*LAWS), LAWS[0])
        section.close()
        return Perturbed(name, limits, noise_for(law, _share(noise), limits[1] - limits[0]))
    assert keep is not None  # noqa: S101
    values_node = section.required("values")
    values = tuple(item.text() for item in values_node.items(MOST_VALUES))
    if len(values) < 2 or len(set(values)) < len(values):
        raise values_node.error("must be at least two different values")
    number = keep.number(0, 1)
    if number in (0, 1):
        raise keep.error("must be between 0 and 1: 1 hides nothing, and 0 shows nothing")
    section.close()
    return Perturbed(name, values=values, keep=number)


def _share(node: Node) -> float:
    """A share written as 50% or 0.5; more than the whole range is allowed."""
    text = node.text()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text)
    share = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0.001 <= share <= 100:
        raise node.error(f"must be a share of the range such as 50% (from 0.1% on), not '{text}'")
    return share
