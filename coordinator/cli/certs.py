"""`coterie certs …`: the arguments and the output of its commands.

The work of a command is in other modules, which are imported when the command runs, so that
`coterie --help` is quick.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from coterie.base.options import JSON, print_result
from coterie.coordinator.cli import authority


def _days(default: int) -> Callable[[Any], Any]:
    return click.option(
        "--days",
        default=default,
        show_default=True,
        type=click.IntRange(1, 36500),
        help="Days until it expires.",
    )


@click.group()
def certs() -> None:
    """Make and check certificates for mTLS."""


for _command in (authority.request, authority.sign, authority.revoke):
    certs.add_command(_command)


@certs.command()
@click.argument("folder", type=click.Path(path_type=Path))
@_days(3650)
@JSON
def init(folder: Path, days: int, as_json: bool) -> None:
    """Make a local authority in FOLDER: ca.crt, and ca.key, which never leaves it."""
    from coterie.trust.certificates import create_authority

    _print_issued(create_authority(folder, days), as_json)


@certs.command()
@click.argument("name")
@authority.DIR
@click.option("--host", "hosts", multiple=True, help="Another host name or address; repeatable.")
@_days(365)
@click.option("--force", is_flag=True, help="Replace the key and the certificate of this name.")
@JSON
def issue(
    name: str, folder: Path, hosts: tuple[str, ...], days: int, force: bool, as_json: bool
) -> None:
    """Make a key and a certificate for the party or coordinator NAME.

    The folder DIR/NAME gets NAME.crt, NAME.key (mode 0600) and ca.crt. Earlier files of this name
    are only replaced with --force, which keeps the host names of the earlier certificate.
    """
    from coterie.trust.certificates import earlier_hosts
    from coterie.trust.certificates import issue as work

    kept = earlier_hosts(folder, name, force)
    _print_issued(work(folder, name, [*kept, *hosts], days), as_json)


def _print_issued(issued: Any, as_json: bool) -> None:
    value = {
        "name": issued.name,
        "certificate": str(issued.certificate),
        "key": str(issued.key),
        "expires": f"{issued.expires:%Y-%m-%dT%H:%M:%SZ}",
    }
    print_result(
        value,
        as_json,
        lambda: [f"{issued.certificate}: valid until {issued.expires:%Y-%m-%d}", f"{issued.key}"],
    )


@certs.command()
@click.argument("place", type=click.Path(path_type=Path))
@JSON
def check(place: Path, as_json: bool) -> int:
    """Check a certificate, or all in a folder: expiry, key, permissions, chain."""
    from coterie.base.checks import show
    from coterie.trust.certificates import check_place

    return show(check_place(place), as_json)
