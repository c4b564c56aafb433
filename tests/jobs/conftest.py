"""Kinds of job are tested in memory with ideal base transfers; servers and traces use the real ones."""

from tests.protocols.conftest import base_transfers

__all__ = ["base_transfers"]
