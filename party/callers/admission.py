"""Limits each caller's use of a server, so that no caller can block it for the others.

Each coordinator and each party of the roster has an account of its own; all other holders of a
certificate of the authority, the strangers, share one small account. An account bounds the calls
(streams among them) that are open at once, and the calls, bytes and refusals of a minute. Some
calls are always reserved for the party's own operator and for health checks. No message of a
stranger is read.

A rejected call reaches no other part of the server. The audit log does not list each of them: it
has a line for the first rejected call, and one line with the number for each minute.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coterie.party.limits import Limits

CAPACITY = 1024  # calls at once, of all callers together
RESERVED = 128  # of these, for the operator and for health checks
_MINUTE = 60.0
_STRANGERS_SHARE = 8  # all strangers together have one caller's calls divided by this
STRANGERS = "strangers"


class TooMuchError(Exception):
    """A call is rejected; the text tells the caller which limit was reached."""


@dataclass
class Account:
    """One caller's open calls, and its usage in the minute that began at `since`."""

    since: float
    open: int = 0
    calls: int = 0
    size: int = 0
    refusals: int = 0
    turned_away: int = 0
    reason: str = ""


class Admission:
    """The accounts of all callers. `note` writes into the audit log."""

    def __init__(
        self,
        limits: Callable[[], Limits],
        note: Callable[[str, int, str], None],
        clock: Callable[[], float],
    ) -> None:
        self._limits = limits
        self._note = note
        self._clock = clock
        self._lock = threading.Lock()
        self._accounts: dict[str, Account] = {}
        self._open = 0

    def enter(self, name: str, *, hasty: bool = False) -> None:
        """Admits one more call of this caller, or raises `TooMuchError`.

        `leave` must follow an admitted call. The rate of a `hasty` caller is not limited, because
        parties call often while they wait for each other.
        """
        with self._turning_away(name) as account:
            self._judge(account, name, hasty)
            account.calls += 1
            account.open += 1
            self._open += 1

    def took(self, name: str, size: int) -> None:
        """Counts the bytes of a message that an admitted call has brought, or raises `TooMuchError`."""
        with self._turning_away(name) as account:
            account.size += size
            self._judge_size(account)

    @contextlib.contextmanager
    def _turning_away(self, name: str) -> Iterator[Account]:
        """The account, which counts and notes a `TooMuchError`."""
        summed, first = None, ""
        try:
            with self._lock:
                account, summed = self._account(name)
                try:
                    yield account
                except TooMuchError as error:
                    account.reason = str(error)
                    first = "" if account.turned_away else account.reason
                    account.turned_away += 1
                    raise
        finally:
            if summed:
                self._note(*summed)
            if first:
                self._note(name, 1, first)

    def _judge(self, account: Account, name: str, hasty: bool) -> None:
        limits = self._limits()
        share = _STRANGERS_SHARE if name == STRANGERS else 1
        calls, rate, refusals = limits.calls, limits.rate, limits.refusals
        if self._open >= CAPACITY - RESERVED:
            raise TooMuchError("the server has no free calls; try again later")
        if account.open >= max(1, calls // share):
            raise TooMuchError(f"limits.calls: {account.open} calls are open")
        if account.calls >= max(1, rate // share) and not hasty:
            raise TooMuchError(f"limits.rate: {account.calls} calls within a minute")
        if account.refusals >= refusals:
            raise TooMuchError(
                f"limits.refusals: {account.refusals} calls were refused within a minute"
            )
        self._judge_size(account)

    def _judge_size(self, account: Account) -> None:
        if account.size > self._limits().bytes:
            raise TooMuchError(f"limits.bytes: {account.size} bytes within a minute")

    def leave(self, name: str) -> None:
        """Notes the end of an admitted call."""
        with self._lock:
            self._accounts[name].open -= 1
            self._open -= 1

    def refused(self, name: str) -> None:
        """Counts a call that was refused, for whatever reason."""
        with self._lock:
            self._account(name)[0].refusals += 1

    def sum_up(self) -> None:
        """Notes the calls that were rejected in the minutes that have passed."""
        with self._lock:
            summed = [self._account(name)[1] for name in list(self._accounts)]
            for name in [n for n, a in self._accounts.items() if not (a.open or a.calls)]:
                del self._accounts[name]
        for entry in summed:
            if entry:
                self._note(*entry)

    def _account(self, name: str) -> tuple[Account, tuple[str, int, str] | None]:
        """The account, reset with each minute, and the note about the last minute."""
        now = self._clock()
        account = self._accounts.get(name)
        if account is None:
            account = self._accounts[name] = Account(now)
        if now - account.since < _MINUTE:
            return account, None
        turned_away, reason = account.turned_away, account.reason
        self._accounts[name] = account = Account(now, open=account.open)
        # The first one was noted when it came.
        return account, (name, turned_away - 1, reason) if turned_away > 1 else None
