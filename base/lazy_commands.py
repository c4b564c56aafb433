"""A group of commands, each of which is imported only when it is used."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from coterie.base.registry import at_place

Found = tuple[str | None, click.Command | None, list[str]]


def resolved(
    look: Callable[[click.Context, list[str]], Found],
    known: Iterable[str],
    ctx: click.Context,
    args: list[str],
) -> Found:
    """The command that a group finds, or an error that names a similar one."""
    try:
        return look(ctx, args)
    except click.UsageError as error:
        hint = close_to(args[0], known) or "."
        raise click.UsageError(error.message.rstrip(".") + hint, ctx) from None


def close_to(name: str, known: Iterable[str]) -> str:
    """The end of an error: which name was probably meant; empty if none is similar."""
    close = difflib.get_close_matches(name.lower(), list(known), 1, cutoff=0.78)
    return f"; did you mean '{close[0]}'?" if close else ""


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

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Found:
        return resolved(super().resolve_command, self.places, ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.places.items()])
