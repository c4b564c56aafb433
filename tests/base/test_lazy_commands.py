"""Groups of commands that are imported when they are used."""

import click
import pytest
from click.testing import CliRunner

from coterie.base.lazy_commands import LazyCommands
from coterie.party.cli import party

PLACES = {"month": ("calendar:nothing", "Never imported."), "say": (f"{__name__}:say", "Says it.")}


@click.command()
def say():
    click.echo("said")


@click.group(cls=LazyCommands, places=PLACES)
def group():
    pass


def test_a_command_is_found_by_its_place():
    assert CliRunner().invoke(group, ["say"]).output == "said\n"


def test_the_list_is_shown_without_importing_the_commands():
    shown = CliRunner().invoke(group, ["--help"]).output
    assert shown.index("month") < shown.index("Never imported.") < shown.index("say")


def test_another_word_is_no_command():
    done = CliRunner().invoke(group, ["listen"])
    assert done.exit_code == 2
    assert "No such command 'listen'" in done.output


@pytest.mark.parametrize("name", party.places)
def test_every_command_of_a_party_has_the_name_under_which_it_is_found(name):
    assert party.get_command(click.Context(party), name).name == name
