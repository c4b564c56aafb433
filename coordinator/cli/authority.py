"""`coterie certs request`, `sign` and `revoke`: their arguments and their output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from coterie.base.options import JSON, print_result


class _Folder(click.Path):
    def get_missing_message(self, param: click.Parameter, ctx: Any = None) -> str:
        return "Name the authority's folder; 'coterie certs init FOLDER' makes one"


DIR = click.option(
    "--dir",
    "folder",
    required=True,
    type=_Folder(path_type=Path),
    help="The authority's folder.",
)


@click.command()
@click.argument("name")
@click.option(
    "--out",
    default=Path(),
    type=click.Path(path_type=Path),
    help="Folder for the key and the request; the current folder by default.",
)
@JSON
def request(name: str, out: Path, as_json: bool) -> None:
    """Request a certificate for NAME: make NAME.key, which stays here, and NAME.csr.

    Give NAME.csr to the authority, which signs it with `certs sign`. An existing NAME.key is used
    again, which renews its certificate.
    """
    from coterie.trust.requests import request as work

    made = work(out, name)
    value = {"name": name, "request": str(made.request), "key": str(made.key)}
    kept = f"{made.key}: {'used again' if made.renewed else 'made'}; it stays here"
    print_result(value, as_json, lambda: [f"{made.request}: give it to the authority", kept])


@click.command()
@click.argument("name")
@click.argument("file", metavar="REQUEST", type=click.Path(path_type=Path))
@DIR
@click.option("--host", "hosts", multiple=True, help="Another host name or address; repeatable.")
@click.option(
    "--days",
    default=365,
    show_default=True,
    type=click.IntRange(1, 36500),
    help="Days until it expires.",
)
@JSON
def sign(
    name: str, file: Path, folder: Path, hosts: tuple[str, ...], days: int, as_json: bool
) -> None:
    """Sign REQUEST, once you are sure that it comes from NAME.

    Writes NAME.crt and ca.crt (and ca.crl if there is one) to DIR/NAME, to give back. Only the key
    is taken from the request.
    """
    from coterie.trust.requests import sign as work

    issued = work(folder, name, file, hosts, days)
    value = {
        "name": name,
        "certificate": str(issued.certificate),
        "expires": f"{issued.expires:%Y-%m-%dT%H:%M:%SZ}",
    }
    print_result(
        value, as_json, lambda: [f"{issued.certificate}: valid until {issued.expires:%Y-%m-%d}"]
    )


@click.command()
@click.argument("what", metavar="NAME|CERTIFICATE")
@DIR
@JSON
def revoke(what: str, folder: Path, as_json: bool) -> None:
    """Revoke a certificate, or all that were issued for a name: write DIR/ca.crl.

    Give ca.crl to every party, which names it as `tls.revoked` in its party file. Running servers load it
    without a restart.
    """
    from coterie.trust.revocation import revoke as work

    made = work(folder, what)
    value = {"file": str(made.file), "names": list(made.names), "listed": made.listed}
    told = (
        f"{made.file}: {len(made.serials)} of {', '.join(made.names)} revoked, {made.listed} in all"
    )
    print_result(value, as_json, lambda: [told])
