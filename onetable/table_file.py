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
      Disease: {}                    # in no qid: released as it is
    requirement:
      - {qid: [Age, Country, Job], k: 10, sensitive: Disease, l: 2}
    max_suppression: 0.01

The keys are those of a job file and are read by the same code, so that errors have the same form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from coterie.anonymity.algorithms.methods import METHODS
from coterie.anonymity.algorithms.mondrian import Options
from coterie.anonymity.algorithms.one_dimension import recoding
from coterie.anonymity.cuts import scoring
from coterie.anonymity.specialization.scores import RULES, SCORES
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.scales import NUMBER
from coterie.anonymity.table.taxonomy import read_taxonomy, with_gap
from coterie.base.errors import DataError
from coterie.jobs.data.attributes import Attribute, attribute_missing, one_of
from coterie.jobs.data.missing import read_missing
from coterie.jobs.data.scaled import read_limits, read_type
from coterie.jobs.data.sources import Source, parse_source
from coterie.jobs.file.document import Node, Section, read_document, read_text
from coterie.jobs.file.job import digest_of_file
from coterie.jobs.kinds.integrate.job import read_marks, read_split
from coterie.jobs.kinds.integrate.requirements import read_requirements, with_taxonomies
from coterie.onetable.anatomy import rules as anatomy
from coterie.onetable.condense.keys import CONDENSE, check_attributes, read_k
from coterie.onetable.quantiles.keys import check_columns, read_cuts, read_quantiles
from coterie.onetable.query_log import priorities

RULES_OF_MONDRIAN = ("entropy", "spread", "width")
COSTS = ("entropy", "precision", "discernibility")
_COMMANDS = ("perturb", "hide-rules")  # methods of files that have commands of their own


@dataclass(frozen=True, kw_only=True)
class TableAttribute(Attribute):
    """A column of the release; `priority` says how much it matters, `at_most` bounds it."""

    in_qid: bool
    priority: float = 1.0
    at_most: tuple[str, ...] = ()
    cuts: tuple[float, ...] = ()  # of `clusters: given`
    keep: bool = False  # released as it is, even if it singles out every record


@dataclass(frozen=True)
class TableFile:
    """A parsed table file. `text` and `files` are stored beside a release."""

    source: Source
    method: str
    identifiers: tuple[str, ...]
    class_name: str | None
    attributes: tuple[TableAttribute, ...]
    requirements: tuple[Requirement, ...]
    max_suppression: float = 0.0
    cost: str = "entropy"
    score: str = "gain-ratio"
    mondrian: Options = field(default_factory=Options)
    joint_table: bool = False  # of anatomy: one sensitive table of tuples
    quantiles: recoding.Options = field(default_factory=recoding.Options)
    text: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A digest of the text and every file that it names, as of a job."""
        return digest_of_file(self.text, self.files)

    @property
    def columns(self) -> list[str]:
        """The columns of the release, in its order."""
        names = [attribute.name for attribute in self.attributes]
        return names if self.class_name is None else [*names, self.class_name]


def load_table_file(path: Path) -> TableFile:
    """Reads a table file and the files it refers to, relative to its folder."""
    text = read_text(path)
    return parse_table_file(text, path.parent, str(path))


def parse_table_file(text: str, folder: Path, file: str = "table file") -> TableFile:
    """The typed table file. Every mistake is a `UsageError` that names the key and the line."""
    section = read_document(text, file)
    files: dict[str, bytes] = {}
    source = parse_source(section.required("data"), folder)
    method = section.read("method", _method, "mondrian")
    id_node = section.optional("id")
    identifiers = tuple(id_node.texts()) if id_node else ()
    class_node = section.optional("class")
    class_name = class_node.text() if class_node else None
    if class_node and class_name in identifiers:
        raise class_node.error("is a column of 'id', which is never released")
    missing = read_missing(section, None)
    attributes_node = section.required("attributes")
    names = attributes_node.section().keys()
    if method == CONDENSE:
        requirements = read_k(section, attributes_node, class_name)
    else:
        requirements = read_requirements(
            section.required("requirement"),
            names,
            class_name,
            lambda node: _named_file(node, folder, files),
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
    if method == CONDENSE:
        check_attributes(attributes_node.section(), attributes)
    else:
        node = section.required("requirement")
        requirements = with_taxonomies(node, requirements, attributes)
    attributes = _learned(section, attributes, folder, files)
    read = TableFile(
        source=source,
        method=method,
        identifiers=identifiers,
        class_name=class_name,
        attributes=tuple(attributes),
        requirements=requirements,
        max_suppression=section.read("max_suppression", lambda n: n.number(0, 0.5), 0.0),
        cost=_for_method(section, "cost", method, "incognito", COSTS) or "entropy",
        score=_score(section, method, class_name),
        mondrian=_mondrian(section, method),
        joint_table=_for_method(section, "sensitive_table", method, anatomy.METHOD, anatomy.TABLES)
        == "joint",
        quantiles=replace(
            read_quantiles(section, method), cuts={a.name: a.cuts for a in attributes if a.cuts}
        ),
        text=without_address(text, section.required("data")),
        files=files,
    )
    _check_class(section, read)
    if method == anatomy.METHOD and (why := anatomy.refusal(requirements, attributes, class_name)):
        raise section.error(why)
    check_columns(section, read.method, read.attributes, read.requirements, read.quantiles)
    section.close()
    return read


def _method(node: Node) -> str:
    if node.text() in _COMMANDS:
        raise node.error(
            f"'{node.text()}' is no way to anonymise: the command `coterie {node.text()}` takes "
            "this file, and its result can be verified"
        )
    return node.choice(*METHODS, anatomy.METHOD, CONDENSE)


def without_address(text: str, data: Node) -> str:
    """The text as it is stored beside a release: without a server's address and its password."""
    if not data.is_mapping or "postgresql" not in data.section().keys():  # noqa: SIM118 (not a dict)
        return text
    begin, end = data.raw.start_mark.index, data.raw.end_mark.index
    after = text[begin:end]
    blank = after[len(after.rstrip()) :]  # a block ends where the next key begins
    return f"{text[:begin]}withheld.csv{blank}{text[end:]}"


def _check_class(section: Section, read: TableFile) -> None:
    if read.method == "specialize" and RULES[read.score].needs_class and read.class_name is None:
        raise section.error(
            f"the key 'class' is missing; the score '{read.score}' needs it, "
            "'discernibility' does not"
        )


def _for_method(
    section: Section, key: str, method: str, wanted: str, choices: tuple[str, ...]
) -> str | None:
    node = section.optional(key)
    if node is None:
        return None
    if method != wanted:
        raise node.error(f"goes with 'method: {wanted}' only")
    return node.choice(*choices)


def _score(section: Section, method: str, class_name: str | None) -> str:
    _for_method(section, "split", method, "specialize", ("even", "quantile"))
    if method == "mondrian":
        return _score_of_cuts(section, class_name)
    score = _for_method(section, "score", method, "specialize", SCORES) or "gain-ratio"
    return read_split(section, score, class_name)


def _score_of_cuts(section: Section, class_name: str | None) -> str:
    """The score of `rule: width`; the other rules of mondrian have one each."""
    node, rule = section.optional("score"), section.optional("rule")
    if node is None:
        return scoring.WIDTH
    if rule is None or rule.text() != "width":
        raise node.error("goes with 'method: specialize', or with 'rule: width' of mondrian")
    score = node.choice(*scoring.SCORES)
    if score != scoring.WIDTH and class_name is None:
        raise section.error(f"the key 'class' is missing; the score '{score}' needs it")
    return score


def _mondrian(section: Section, method: str) -> Options:
    rule = _for_method(section, "rule", method, "mondrian", RULES_OF_MONDRIAN)
    boxes = _for_method(section, "boxes", method, "mondrian", ("tight", "regions"))
    cuts = _for_method(section, "cuts", method, "mondrian", ("strict", "relaxed"))
    if rule == "width" and cuts == "relaxed":
        raise section.required("cuts").error("'rule: width' keeps equal values together")
    usual = "regions" if rule == "width" else "tight"
    return Options(
        rule="width" if rule == "width" else "spread" if rule == "spread" else "entropy",
        boxes="regions" if (boxes or usual) == "regions" else "tight",
        relaxed=cuts == "relaxed",
    )


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
        raise node.error("has a type, which goes with numbers, dates and times alone")
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
        raise node.error("goes without 'priority': priorities are learned or told")
    path = _read_file(node, folder, files)
    try:
        text = files[path].decode("utf-8")
        names = [attribute.name for attribute in attributes if attribute.in_qid]
        learned = priorities(text, names, path)
    except UnicodeDecodeError:
        raise node.error(f"'{path}' is not UTF-8 text") from None
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


@dataclass(frozen=True, kw_only=True)
class MethodFile:
    """A file of a command that takes one table and one method, such as `coterie perturb`.

    `data` says where the table lies, `method` whose file it is; the rest is the command's own. `text`
    and `files` are stored beside a release.
    """

    source: Source
    text: str
    method: str
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


F = TypeVar("F", bound=MethodFile)


def load_method_file(path: Path, parse: Callable[[str, Path, str], F]) -> F:
    """Reads a file; `parse` takes its text, the folder that its paths start from, and its name."""
    return parse(read_text(path), path.parent, str(path))


def begin_method_file(
    text: str, folder: Path, file: str, method: str
) -> tuple[Section, Source, str]:
    """The keys that are left to the command, the source of the table, and the text to be stored."""
    section = read_document(text, file)
    section.required("method").choice(method)
    data = section.required("data")
    return section, parse_source(data, folder), without_address(text, data)
