"""A group of commands, each of which is imported only when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from coterie.base.registry import at_place


class LazyCommands(click.Group):
    """`places` has for each command "module:attribute" and the short help that the list shows."""

    def __init__(self, *args: Any, places: Mapping[str, tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.places)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.places:
            return None
        command: click.Command = at_place(self.places[name][0])
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.places.items()])
