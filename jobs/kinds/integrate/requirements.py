"""The key `requirement` of a job or a table file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from coterie.anonymity.models.distances.given_costs import read_costs
from coterie.anonymity.models.options import (
    OPTIONS,
    joint_model_from_options,
    model_from_options,
    with_taxonomy,
)
from coterie.anonymity.models.privacy import Model
from coterie.anonymity.specialization.specialize import Requirement
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.attributes import Attribute
from coterie.jobs.file.document import Node, read_document

MOST_REQUIREMENTS = 200  # entries of a job; each is checked against each other one
ReadFile = Callable[[Node], tuple[str, bytes]]  # the path that a node names, and what is there


def read_requirements(
    node: Node,
    names: list[str],
    class_name: str | None,
    read_file: ReadFile | None = None,
    populations: bool = False,
) -> tuple[Requirement, ...]:
    """The entries of a job or a table file; `names` are the attributes.

    `populations` says whether groups may be counted in a population, by `k_map`.
    """
    requirements = tuple(
        _read_requirement(item, names, class_name, read_file or _no_file, populations)
        for item in node.items(MOST_REQUIREMENTS)
    )
    if not requirements:
        raise node.error("must have at least one entry")
    in_qid = {name for requirement in requirements for name in requirement.qid}
    for item, requirement in zip(node.items(), requirements, strict=True):
        for name in requirement.sensitive_columns:
            if name in in_qid:
                raise item.error(f"the sensitive '{name}' is in a qid; it must be in none")
    return requirements


def with_taxonomies(
    node: Node, requirements: Sequence[Requirement], attributes: Sequence[Attribute]
) -> tuple[Requirement, ...]:
    """The requirements with the taxonomies of the sensitive attributes that some measure along."""
    trees = {attribute.name: attribute.taxonomy for attribute in attributes}
    found = []
    for item, requirement in zip(node.items(), requirements, strict=True):
        tree = None
        if isinstance(requirement.sensitive, str):
            tree = trees.get(requirement.sensitive)
        try:
            model = with_taxonomy(requirement.model, tree)
        except ValueError as error:
            raise item.error(str(error)) from None
        found.append(replace(requirement, model=model))
    return tuple(found)


def _read_requirement(
    node: Node,
    names: list[str],
    class_name: str | None,
    read_file: ReadFile,
    populations: bool,
) -> Requirement:
    """An entry of `requirement`; `names` are the attributes."""
    section = node.section()
    qid_node = section.required("qid")
    qid = tuple(qid_node.texts())
    for name in qid:
        if name not in names:
            raise qid_node.error(f"'{name}' is not among the attributes")
    if len(set(qid)) < len(qid):
        raise qid_node.error("names an attribute twice")
    if not qid:
        raise qid_node.error("must name at least one attribute")
    map_node = section.optional("k_map") if populations else None
    k_map = None if map_node is None else map_node.integer(minimum=2)
    k_node = section.required("k") if k_map is None else section.optional("k")
    k = 1 if k_node is None else k_node.integer(minimum=1)
    sensitive_node = section.optional("sensitive")
    options: dict[str, Any] = {}
    for key in OPTIONS:
        option = section.optional(key)
        if option is not None:
            options[key] = _costs(option, read_file) if key == "costs" else _option(option)
    section.close()
    if sensitive_node is None:
        if options:
            raise node.error(f"'{min(options)}' has no meaning without 'sensitive'")
        return Requirement(qid, k, k_map=k_map)
    if map_node is not None:
        raise map_node.error(
            "cannot be used with 'sensitive': of a group that is counted in a population, the table may "
            "have one record, whose sensitive value nothing hides; give 'sensitive' an entry with 'k'"
        )
    several = sensitive_node.is_list
    columns = tuple(sensitive_node.texts()) if several else (sensitive_node.text(),)
    for name in columns:
        if name not in names and name != class_name:
            raise sensitive_node.error(f"'{name}' is neither an attribute nor the class")
    try:
        model: Model = (
            joint_model_from_options(columns, options) if several else model_from_options(options)
        )
    except ValueError as error:
        raise node.error(str(error)) from None
    return Requirement(qid, k, columns if several else columns[0], model)


def thresholds_by_column(
    text: str, files: Mapping[str, bytes], requirements: Sequence[Requirement]
) -> dict[str, str]:
    """For each column of a requirement, a digest of every number that its groups must satisfy.

    By column, so that nobody can exchange the numbers of two entries, or add a column to an entry, to
    ask the same question by another number.
    """
    found: dict[str, set[str]] = {}
    entries = read_document(text, "job").required("requirement").items()
    for item, requirement in zip(entries, requirements, strict=True):
        keys = {
            key: node for key, node in item.section().entries() if key not in ("qid", "sensitive")
        }
        told = sorted(
            f"{key}: {sha256(files[node.text()]).hexdigest() if key == 'costs' else node.written()}"
            for key, node in keys.items()
        )
        for name in (*requirement.qid, *requirement.sensitive_columns):
            found.setdefault(name, set()).add(", ".join(told))
    return {
        f"integrate.requirement of {name}": sha256("; ".join(sorted(told)).encode()).hexdigest()
        for name, told in found.items()
    }


def _no_file(node: Node) -> tuple[str, bytes]:
    raise node.error("names a file, which has no meaning here")


def _costs(node: Node, read_file: ReadFile) -> Any:
    path, data = read_file(node)
    try:
        return read_costs(data, path)
    except DataError as error:
        raise node.error(str(error)) from None


def _option(node: Node) -> Any:
    """A number, a text, a list of texts or a mapping from texts to numbers."""
    if node.is_mapping:
        return {key: value.number() for key, value in node.section().entries()}
    if node.is_list:
        return [item.text() for item in node.items()]
    try:
        return node.number()
    except UsageError:
        return node.text()
