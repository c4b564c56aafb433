"""The seal of a party's books: one row of digests over all other rows and the head of the audit log.

Every change of the books makes a new seal in the same transaction, so that a row that somebody added,
changed or removed behind the server's back does not fit it. The ledger and the history only grow;
each has a chain, in which a row's link is a digest of the link before and the row. The audit log notes
links, too, so that a chain cannot be written anew without the log. Jobs and notes change, and have the
sum of the digests of their rows in any order, hidden behind the digest of a random number
(MSet-Add-Hash of Clarke, Devadas, van Dijk, Gassend and Suh, ASIACRYPT 2003).

All digests are BLAKE2b under `books_key`. Who has not the key can neither make a seal nor extend one.
Without a key everybody can who knows how; then only the links in the audit log stand against a forger
who makes the seal anew.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, replace

from coterie.base.errors import VerificationError

START = "0" * 64  # the link before the first row, and the head of an empty audit log
CHAINED = ("ledger", "history")
NAMED = ("jobs", "notes")
_WHOLE = 1 << 256


@dataclass(frozen=True)
class Seal:
    """The books after `serial` changes."""

    serial: int
    keyed: bool
    audit: tuple[int, str]  # lines of the audit log, and the digest of the last
    chains: dict[str, tuple[int, str]]  # rows, and the last link
    sums: dict[str, tuple[str, str]]  # a random number, and the hidden sum

    def as_text(self) -> str:
        return json.dumps(
            [self.serial, self.keyed, list(self.audit), self.chains, self.sums], sort_keys=True
        )


class Sealer:
    """Makes and checks seals with a key, or without one."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.sha256(key).digest() if key else b""

    @property
    def keyed(self) -> bool:
        return bool(self._key)

    def _digest(self, what: str, *parts: str) -> bytes:
        total = hashlib.blake2b(what.encode(), key=self._key, digest_size=32)
        for part in parts:
            data = part.encode(errors="surrogatepass")
            total.update(len(data).to_bytes(8, "big") + data)
        return total.digest()

    def link(self, before: str, number: int, content: str) -> str:
        """The link of the next row of a chain."""
        return self._digest("link", before, str(number), content).hex()

    def of_row(self, table: str, name: str, content: str) -> int:
        """What a row adds to the sum of its table."""
        return int.from_bytes(self._digest("row", table, name, content))

    def hidden(self, total: int) -> tuple[str, str]:
        nonce = secrets.token_hex(16)
        return nonce, f"{(total + self._mask(nonce)) % _WHOLE:064x}"

    def total(self, hidden: tuple[str, str]) -> int:
        """The sum, as it was before it was hidden."""
        nonce, value = hidden
        return (int(value, 16) - self._mask(nonce)) % _WHOLE

    def _mask(self, nonce: str) -> int:
        return int.from_bytes(self._digest("mask", nonce))

    def empty(self) -> Seal:
        """The seal of books without a row."""
        chains = dict.fromkeys(CHAINED, (0, START))
        return Seal(0, self.keyed, (0, START), chains, {name: self.hidden(0) for name in NAMED})

    def mac(self, text: str) -> str:
        return self._digest("seal", text).hex()

    def opened(self, text: str, mac: str) -> Seal:
        """The seal in a row; `VerificationError` if it was not made with this key."""
        if not hmac.compare_digest(self.mac(text), mac):
            raise VerificationError("the seal was not made with the key of these books")
        serial, keyed, (lines, chain), chains, sums = json.loads(text)
        return Seal(
            serial,
            keyed,
            (lines, chain),
            {name: (rows, link) for name, (rows, link) in chains.items()},
            {name: (nonce, value) for name, (nonce, value) in sums.items()},
        )


def extended(seal: Seal, sealer: Sealer, book: str, content: str) -> Seal:
    """The seal after one more row in a chain."""
    rows, link = seal.chains[book]
    return replace(
        seal, chains={**seal.chains, book: (rows + 1, sealer.link(link, rows + 1, content))}
    )


def shifted(seal: Seal, sealer: Sealer, table: str, by: int) -> Seal:
    """The seal after the sum of a table has changed by this."""
    total = sealer.total(seal.sums[table]) + by
    return replace(seal, sums={**seal.sums, table: sealer.hidden(total)})
