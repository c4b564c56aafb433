"""A party server that kills itself, as `kill -9` does, before or after a chosen message.

    python -m tests.party.mortal_server PARTY.yaml before|after NUMBER

counts the messages that a job sends and receives here, from 0. "never" instead of a number lives on.
The steps of all messages are appended to the file `steps` in the party's state folder. The processes
whose numbers are in the file `together` there are killed with this one.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from coterie.__main__ import run
from coterie.protocols.messaging.channel import Message
from coterie.transport.session import Session


def mortal(file: Path, when: str, number: str) -> None:
    """Has the server of this party file die at the message."""
    content = yaml.safe_load(file.read_text())
    path = file.parent / content["state"] / "steps"
    path.parent.mkdir(exist_ok=True)
    log = path.open("a")
    handled = 0
    counting = threading.Lock()

    def dying(handle: Callable[..., Any]) -> Callable[..., Any]:
        def handled_by(session: Session, *arguments: Any) -> Any:
            nonlocal handled
            with counting:  # several threads send and receive
                due = str(handled) == number
                handled += 1
                # A session learns the step of a message as it sends the message.
                sent = [one.step for one in arguments if isinstance(one, Message)]
                log.write(f"{sent[0] if sent else session.step}\n")
                log.flush()
            if due and when == "before":
                die(path.with_name("together"))
            result = handle(session, *arguments)
            if due:
                die(path.with_name("together"))
            return result

        return handled_by

    Session.transmit = dying(Session.transmit)  # type: ignore[method-assign]
    Session.receive = dying(Session.receive)  # type: ignore[method-assign]


def die(together: Path) -> None:
    """Kills this process, and those that shall die with it."""
    others = together.read_text().split() if together.exists() else []
    for process in (*map(int, others), os.getpid()):
        os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    mortal(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
    sys.exit(run(["party", "serve", sys.argv[1], "--json"]))
