"""A line to a port of this machine on which everything takes a while."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time


class SlowLine:
    """Hands bytes over in both directions, each the same time after it was sent."""

    def __init__(self, port: int, seconds: float) -> None:
        self._target = port
        self._seconds = seconds
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> SlowLine:
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self._listener, *self._ends):
            with contextlib.suppress(OSError):  # it has ended already
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the line has been closed
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._ends += [near, far]
                self._carry(near, far)
                self._carry(far, near)

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        on_the_way: queue.Queue[tuple[float, bytes]] = queue.Queue()

        def read() -> None:
            data = b"any"
            while data:
                try:
                    data = source.recv(1 << 16)
                except OSError:
                    data = b""
                on_the_way.put((time.monotonic() + self._seconds, data))

        def write() -> None:
            with contextlib.suppress(OSError):
                while True:
                    due, data = on_the_way.get()
                    time.sleep(max(0.0, due - time.monotonic()))
                    if not data:
                        sink.shutdown(socket.SHUT_WR)
                        return
                    sink.sendall(data)

        for target in (read, write):
            threading.Thread(target=target, daemon=True).start()
