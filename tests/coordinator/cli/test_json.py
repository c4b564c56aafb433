"""Every command that prints a result prints it as one JSON object on request."""

import json

import click
import pytest

from coterie.__main__ import cli
from tests.coordinator.support import coterie


def leaves(command, path=()):
    """Every command that does something, with its name in words."""
    context = click.Context(cli)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*path, name))
        if not command.invoke_without_command:
            return
    yield " ".join(path), command


COMMANDS = dict(leaves(cli))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_knows_json(name):
    assert any("--json" in option.opts for option in COMMANDS[name].params)


def test_a_taxonomy_is_a_tree(tmp_path):
    file = tmp_path / "Sex.csv"
    file.write_text("F;ANY\nM;ANY\n")
    tree = {"value": "ANY", "children": [{"value": "F"}, {"value": "M"}]}
    assert coterie("taxonomy", file, "--json").json == tree


def test_lists_of_benchmarks_and_experiments_are_objects():
    assert "intersect" in coterie("bench", "--json").json["benchmarks"]
    assert "adult" in coterie("experiment", "--json").json["experiments"]


def test_a_prepared_demo_says_where_it_is(tmp_path):
    done = coterie("demo", "--prepare-only", "--people", 50, "--out", tmp_path / "d", "--json")
    assert done.json["parties"] == ["lender", "bank", "card"]
    assert json.loads(done.out)["people"] == 50
