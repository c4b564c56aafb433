"""Seeded runs whose messages are known to the byte: `digests.json` guards the wire against accidents."""
