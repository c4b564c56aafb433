"""Random small tables with taxonomies and requirements, for hypothesis."""

from dataclasses import dataclass

from hypothesis import strategies as st

from coterie.anonymity.specialization.specialize import Labels, Requirement
from coterie.anonymity.table.columns import categorical_column, continuous_column, encode_text
from coterie.anonymity.table.taxonomy import taxonomy_of


@dataclass
class Case:
    rows: list
    attributes: dict  # as the reference takes them
    requirements: list  # of (qid, k)
    class_name: str = "class"

    def column(self, name):
        text = [row[name] for row in self.rows]
        kind, detail = self.attributes[name]
        if kind == "taxonomy":
            return categorical_column(name, text, taxonomy_of(detail))
        return continuous_column(name, text, detail)

    def columns(self):
        used = {name for qid, _ in self.requirements for name in qid}
        return [self.column(name) for name in self.attributes if name in used]

    def labels(self, name):
        codes, values = encode_text(name, [row[name] for row in self.rows], "table")
        return Labels(codes, tuple(values))

    def requirement_list(self):
        return [Requirement(tuple(qid), k) for qid, k in self.requirements]


@st.composite
def taxonomies(draw, name):
    """Leaf-to-root paths of a random tree, in random order, with repeats in shorter branches."""
    paths = []

    def grow(label, above, depth):
        width = draw(st.integers(1, 3)) if depth < 2 or draw(st.booleans()) else 0
        if depth == 3 or width == 0:
            paths.append((label, *above))
            return
        for i in range(width):
            grow(f"{label}{i}", (label, *above), depth + 1)

    grow(name, (), 0)
    longest = max(map(len, paths))
    padded = [(path[0],) * (longest - len(path)) + path for path in paths]
    return draw(st.permutations(padded))


@st.composite
def cases(draw, max_rows=40, max_attributes=5, classes=3):
    count = draw(st.integers(2, max_attributes))
    attributes, values = {}, {}
    for i in range(count):
        name = f"{'abcdefgh'[i]}"
        if draw(st.booleans()):
            paths = draw(taxonomies(name.upper()))
            attributes[name] = ("taxonomy", paths)
            values[name] = st.sampled_from([path[0] for path in paths])
        else:
            limits = draw(st.sampled_from([None, (0, 6), (-1, 9.5)]))
            attributes[name] = ("range", limits)
            values[name] = st.sampled_from(["0", "1", "2", "2.5", "3", "4", "6"])
    row = st.fixed_dictionaries({**values, "class": st.sampled_from(["x", "y", "z"][:classes])})
    rows = draw(st.lists(row, min_size=4, max_size=max_rows))
    names = list(attributes)
    qids = draw(
        st.lists(
            st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True),
            min_size=1,
            max_size=3,
        )
    )
    requirements = [(qid, draw(st.integers(1, min(6, len(rows))))) for qid in qids]
    return Case(rows, attributes, requirements)
