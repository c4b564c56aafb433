"""`coterie relay …`: carries connections of parties that open no port."""

from __future__ import annotations

import logging
import os
import signal
import threading
from pathlib import Path

import click

from coterie.base.errors import CoterieError
from coterie.base.options import JSON, print_result
from coterie.relay.config import load_relay
from coterie.relay.server import Relay

log = logging.getLogger("coterie.relay")


@click.group()
def relay() -> None:
    """Carry connections of parties that open no port."""


_LOOK = 0.5  # seconds between looks whether SIGHUP has come


def _renew(server: Relay, file: Path) -> None:
    try:
        server.take_up(load_relay(file))
        log.info("%s: taken up", file)
    except CoterieError as error:
        log.error("%s; the file of before stays in force", error)


@relay.command()
@click.argument("file", metavar="RELAY.yaml", type=click.Path(path_type=Path))
@JSON
def serve(file: Path, as_json: bool) -> int:
    """Serve until SIGTERM or Ctrl-C. Parties and coordinators dial out to this one port.

    SIGHUP reads the file and its certificates again.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    config = load_relay(file)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    server = Relay(config)
    asked = threading.Event()
    signal.signal(signal.SIGHUP, lambda *_: asked.set())
    server.start()
    listen = f"{config.listen.rpartition(':')[0]}:{server.port}"
    found = {"relay": config.name, "listen": listen, "pid": os.getpid()}
    print_result(found, as_json, lambda: [f"{config.name} listens on {listen}"])
    while not stopping.wait(_LOOK):
        if asked.is_set():
            asked.clear()
            _renew(server, file)
    server.stop()
    return 0
