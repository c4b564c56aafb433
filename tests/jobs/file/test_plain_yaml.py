"""Both parsers give the same nodes, refuse what is not plain, and the faster one is used."""

import inspect

import pytest
import yaml

from coterie.jobs.file.plain_yaml import DEEPEST, MERGE, NULL, PARSERS, PlainYamlError, compose
from tests.fuzz.documents import DECODERS
from tests.fuzz.fuzzing import corpus

both = pytest.mark.parametrize("parser", PARSERS)


def told(node):
    """A node as values and places that can be compared."""
    if isinstance(node, yaml.ScalarNode):
        end = node.end_mark.index if node.value else None  # of nothing, places differ
        tag = node.tag if node.tag in (NULL, MERGE) else ""
        return node.value, tag, node.style, node.start_mark.line, end
    held = node.value
    if isinstance(node, yaml.MappingNode):
        held = [child for pair in held for child in pair]
    return type(node), [told(child) for child in held], node.start_mark.index, node.end_mark.index


WRITTEN = [
    "a: 1\nb: [x, 'y', \"z\\x41\", ~, '']\nc: {d: null, <<: e}\n",
    "text: |\n  one\n  two\nfolded: >-\n  three\n\n  four\n",
    "? a\n: b\n? [c, d]\n: {e, f: g}\nlast:",
    "\ufeffa: é😀 b\r\nc: d # e\r\n",
    "%YAML 1.1\n---\na:\n- b\n- - c\n  - d\n...\n",
]


@pytest.mark.skipif(len(PARSERS) == 1, reason="PyYAML has no libyaml here")
def test_both_parsers_give_the_same_nodes():
    inputs = [*DECODERS["job file"].seeds(), *corpus("job file"), *DECODERS["party file"].seeds()]
    texts = [data.partition(b"\0")[0].decode("utf-8", "replace") for data in inputs]
    same = 0
    for text in [*WRITTEN, *texts]:
        try:
            first, second = (compose(text, parser) for parser in PARSERS)
        except PlainYamlError:
            assert text not in WRITTEN
            continue
        if first is not None:
            assert told(first) == told(second)
            same += 1
    assert same > 20


REFUSED = {
    "a number that no character has": ('a: 1\nb: "\\UFFFFFFFF"\n', 2, "not YAML"),
    "half of a character": ('a: 1\nb: "\\ud800"\n', 2, ""),
    "a zero byte": ('a: "\\0"\n', 1, "the character U+0000 is not used here"),
    "a version of many digits": (f"%YAML 1.{'9' * 5000}\n---\na: 1\n", 1, "not YAML"),
    "a tab before a key": (
        "a:\n\tb: 1\n",
        2,
        "not YAML: the line begins with a tab; indent it with spaces",
    ),
    "a tab before a later key": (
        "a:\n  b: 1\n\tc: 1\n",
        3,
        "not YAML: the line begins with a tab; indent",
    ),
    "an invisible character": ("a: 1\n\ufeffb: 2\n", 2, "not YAML: the character U+FEFF"),
    "half of a character as it is": ("a: \ud800\n", 1, "not YAML: the character U+D800"),
    "an end that comes too early": ("a: [1,", 1, "not YAML"),
    "a second document": ("a: 1\n---\n", 2, "not YAML: expected a single document"),
    "a long tag": (f"a: !{'x' * 99} 1\n", 1, "tags (!xxx"),
    "an alias": ("a: 1\nb: *a\n", 2, "anchors and aliases"),
    "depth": ("[" * 99, 1, f"nested deeper than {DEEPEST} levels"),
}


@both
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_plain_is_refused_with_its_line(parser, case):
    text, line, message = REFUSED[case]
    with pytest.raises(PlainYamlError) as caught:
        compose(text, parser)
    assert caught.value.line == line
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 200


@both
def test_nothing_is_no_node(parser):
    assert compose("# nothing\n", parser) is None


@pytest.mark.skipif(len(PARSERS) == 1, reason="PyYAML has no libyaml here")
def test_libyaml_reads_what_strangers_send():
    """PyYAML's own reader takes ten times as long for the largest text."""
    assert PARSERS[0] is yaml.CSafeLoader
    assert inspect.signature(compose).parameters["parser"].default is yaml.CSafeLoader
