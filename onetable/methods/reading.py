"""The table file: one table, its requirement, and the method that anonymises it.

    data: people.csv                 # or any source that a party file may name
    method: mondrian                 # docs/one-table.md has them all
    id: ID                           # left out of the release
    class: Class
    missing: error                   # error | drop | value, unless an attribute says otherwise
    attributes:
      Age:     {range: [17, 90], priority: 3}
      Country: {taxonomy: taxonomies/Country.csv, at_most: [North-America, Europe]}
      Job:     {flat: true}          # no taxonomy: the value or `*`
      Disease: {}                    # in no qid: released unchanged
    requirement:
      - {qid: [Age, Country, Job], k: 10, sensitive: Disease, l: 2}
    max_suppression: 0.01

The keys are those of a job file and are read by the same code, so that errors have the same form.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from coterie.anonymity.table.scales import NUMBER
from coterie.anonymity.table.taxonomy import read_taxonomy, with_gap
from coterie.base.errors import DataError
from coterie.jobs.data.attributes import attribute_missing, one_of
from coterie.jobs.data.missing import read_missing
from coterie.jobs.data.scaled import read_limits, read_type
from coterie.jobs.data.sources import parse_source
from coterie.jobs.file.document import Node, Section, read_document, read_text
from coterie.jobs.kinds.integrate.job import read_marks
from coterie.jobs.kinds.integrate.requirements import with_taxonomies
from coterie.onetable.methods.quantiles.keys import read_cuts
from coterie.onetable.methods.registry import DEFAULT, OWN_FILES, TABLE_METHODS, table_method
from coterie.onetable.query_log import priorities
from coterie.onetable.table_file import TableAttribute, TableFile, without_address


def load_table_file(path: Path) -> TableFile:
    """Reads a table file and the files it refers to, relative to its folder."""
    text = read_text(path)
    return parse_table_file(text, path.parent, str(path))


def parse_table_file(text: str, folder: Path, file: str = "table file") -> TableFile:
    """The typed table file. Every mistake is a `UsageError` that names the key and the line."""
    section = read_document(text, file)
    files: dict[str, bytes] = {}
    source = parse_source(section.required("data"), folder)
    method = table_method(section.read("method", _method, DEFAULT))
    id_node = section.optional("id")
    identifiers = tuple(id_node.texts()) if id_node else ()
    class_node = section.optional("class")
    class_name = class_node.text() if class_node else None
    if class_node and class_name in identifiers:
        raise class_node.error("is a column of 'id', which is never released")
    missing = read_missing(section, None)
    attributes_node = section.required("attributes")
    requirements = method.requirements(
        section, attributes_node, class_name, lambda node: _named_file(node, folder, files)
    )
    in_qid = {name for requirement in requirements for name in requirement.qid}
    sensitive = {name for requirement in requirements for name in requirement.sensitive_columns}
    attributes = []
    for name, node in attributes_node.section().entries():
        if name in identifiers:
            raise node.error("is a column of 'id', which is never released")
        if name == class_name:
            raise node.error("is the class, which is released without being listed")
        places = name in in_qid, name in sensitive
        attributes.append(_attribute(name, node, folder, files, places, missing))
    if (requirement_node := section.optional("requirement")) is not None:
        requirements = with_taxonomies(requirement_node, requirements, attributes)
    attributes = _learned(section, attributes, folder, files)
    read = TableFile(
        source=source,
        method=method.name,
        identifiers=identifiers,
        class_name=class_name,
        attributes=tuple(attributes),
        requirements=requirements,
        max_suppression=section.read("max_suppression", lambda n: n.number(0, 0.5), 0.0),
        text=without_address(text, section.required("data")),
        files=files,
    )
    read = replace(read, options=method.options(section, read))
    method.check(section, read)
    _refuse_others(section)
    section.close()
    return read


def _method(node: Node) -> str:
    if node.text() in OWN_FILES:
        raise node.error(
            f"'{node.text()}' is not a method of 'coterie anonymise': the command `coterie {node.text()}` takes "
            "this file, and its result can be verified"
        )
    return node.choice(*TABLE_METHODS)


def _refuse_others(section: Section) -> None:
    """Says of a key of another method which one it goes with."""
    for key, node in section.unread():
        for name in TABLE_METHODS:
            if key in table_method(name).keys:
                raise node.error(f"is only for 'method: {name}'")


def _attribute(
    name: str,
    node: Node,
    folder: Path,
    files: dict[str, bytes],
    places: tuple[bool, bool],
    default: str | None,
) -> TableAttribute:
    """An attribute; `places` says whether it is in a qid, and whether it is sensitive."""
    in_qid, sensitive = places
    section = node.section()
    missing = attribute_missing(section, sensitive, default)
    taxonomy_node, range_node, flat_node = one_of(node, section, ("taxonomy", "range", "flat"))
    scale = read_type(section)
    if scale is not None and (taxonomy_node or flat_node):
        raise node.error("has a type, which only numbers, dates and times can have")
    taxonomy = limits = None
    if taxonomy_node:
        path = _read_file(taxonomy_node, folder, files)
        taxonomy = read_taxonomy(files[path], path)
        if missing == "value":
            taxonomy = with_gap(taxonomy)
    if range_node:
        scale, limits = read_limits(range_node, scale)
    marks = read_marks(section, name, taxonomy, in_qid)
    read = TableAttribute(
        name,
        taxonomy,
        limits,
        scale,
        bool(flat_node and flat_node.boolean()),
        missing,
        in_qid=in_qid,
        priority=section.read("priority", lambda n: n.number(0), 1.0),
        at_most=marks,
        cuts=section.read("cuts", lambda n: read_cuts(n, scale or NUMBER), ()),
        keep=section.read("keep", lambda n: n.boolean(), False),
    )
    if read.keep and in_qid:
        raise node.error("is in a qid, and so generalized; 'keep' is for columns in no qid")
    section.close()
    return read


def _learned(
    section: Section, attributes: list[TableAttribute], folder: Path, files: dict[str, bytes]
) -> list[TableAttribute]:
    """The attributes with priorities from a file of queries, where the table file names one."""
    node = section.optional("queries")
    if node is None:
        return attributes
    if any(attribute.priority != 1 for attribute in attributes):
        raise node.error("cannot be used with 'priority': priorities are either learned or given")
    path = _read_file(node, folder, files)
    try:
        text = files[path].decode("utf-8")
        names = [attribute.name for attribute in attributes if attribute.in_qid]
        learned = priorities(text, names, path)
    except UnicodeDecodeError:
        raise node.error(f"'{path}' is not UTF-8 text; save it as UTF-8") from None
    except DataError as error:
        raise node.error(str(error)) from None
    return [replace(a, priority=learned.get(a.name, 1.0)) for a in attributes]


def _named_file(node: Node, folder: Path, files: dict[str, bytes]) -> tuple[str, bytes]:
    name = _read_file(node, folder, files)
    return name, files[name]


def _read_file(node: Node, folder: Path, files: dict[str, bytes]) -> str:
    name = node.text()
    if PurePosixPath(name).is_absolute():
        raise node.error(f"'{name}' must be relative to the table file")
    try:
        files[name] = (folder / name).read_bytes()
    except OSError as error:
        raise node.error(f"'{name}': {error.strerror}") from None
    return name
