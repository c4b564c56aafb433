"""A web site for one browser on this machine: how a live page and a steward's desk are served.

Who may read it: whoever has the link. Other programs and other users of the machine can connect to a
port of the loopback interface, and so can pages of strangers that the same browser shows. Therefore:

- The link has a token after its `#`, which no browser sends to anybody. The first page posts the
  token and is given a session in return. The token works once.
- Every other request carries the session in a header of its own (`Authorization`), which a page of
  another origin cannot add; there are no cookies, which browsers share between ports.
- A request for another host than this one is refused, whatever its address resolves to.
- Nothing is changed by a GET. A POST from another origin is refused even with a session.
- The content policy permits one script, which is ours, and no request to anywhere else.

Sizes and times are bounded: a request has at most `_LONGEST` bytes and must arrive within `_SECONDS`.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from coterie.base.errors import EnvironmentFaultError

HOST = "127.0.0.1"
_LONGEST = 65_536
_SECONDS = 10.0
_MOST_FIELDS = 50
_AT_ONCE = 16  # requests that are answered at the same time; a browser needs few
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Form = Mapping[str, str]


class LoopbackSite:
    """One page, its script, and the calls of the script; use as a context manager.

    `page` and `script` hold no secrets: everybody on this machine can read them. `views` are what a
    GET with a session answers, `actions` what a POST with a session does; both answer JSON.
    """

    def __init__(
        self,
        page: str,
        script: str,
        views: Mapping[str, Callable[[], Any]],
        actions: Mapping[str, Callable[[Form], Any]],
        port: int = 0,
    ) -> None:
        self.page = page.encode()
        self.script = script.encode()
        self.views = views
        self.actions = actions
        self._token: str | None = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._lock = threading.Lock()
        self._last: float | None = None
        self._answered: set[str] = set()
        try:
            self._server = _Server((HOST, port), self)
        except OSError as error:
            raise EnvironmentFaultError(f"{HOST}:{port}: {error.strerror}") from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)

    def __enter__(self) -> LoopbackSite:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_SECONDS)

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self._server.server_address[1]}"

    @property
    def link(self) -> str:
        """The link for the browser. It works once."""
        return f"{self.origin}/#{self._token}"

    @property
    def idle(self) -> float | None:
        """Seconds since the last request with a session; None if there was none."""
        return None if self._last is None else time.monotonic() - self._last

    def answered(self, view: str) -> bool:
        """Whether this view has been read."""
        return view in self._answered

    def enter(self, token: str) -> str | None:
        """A session in return for the token, which is used up."""
        with self._lock:
            if self._token is None or not hmac.compare_digest(self._token.encode(), token.encode()):
                return None
            self._token = None
        return self._session

    def knows(self, header: str) -> bool:
        """Whether this `Authorization` header carries the session; then the site is not idle."""
        known = hmac.compare_digest(f"Bearer {self._session}".encode(), header.encode())
        if known:
            self._last = time.monotonic()
        return known

    def note(self, view: str) -> None:
        """Remembers that this view has been read."""
        self._answered.add(view)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], site: LoopbackSite) -> None:
        self.site = site
        self.places = threading.BoundedSemaphore(_AT_ONCE)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self.places.acquire(timeout=_SECONDS):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that breaks off is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "coterie"
    sys_version = ""
    timeout = _SECONDS

    def do_GET(self) -> None:
        site = self.server.site
        if not self._here():
            return
        if self.path == "/":
            self._answer(200, "text/html; charset=utf-8", site.page)
        elif self.path == "/script.js":
            self._answer(200, "text/javascript; charset=utf-8", site.script)
        elif self.path.removeprefix("/") in site.views:
            if self._known():
                view = self.path.removeprefix("/")
                self._json(200, site.views[view]())
                site.note(view)
        else:
            self._say(404, "there is no such page")

    def do_POST(self) -> None:
        site = self.server.site
        if not self._here():
            return
        if self.headers.get("Origin") != site.origin:
            self._say(403, "the request comes from another page")
            return
        name = self.path.removeprefix("/")
        if name == "enter":
            session = site.enter(self._body())
            if session is None:
                self._say(
                    403, "this link was used already; start the command again for another one"
                )
            else:
                self._json(200, {"session": session})
        elif name in site.actions:
            if self._known():
                self._json(200, site.actions[name](_form(self._body())))
        else:
            self._say(404, "there is no such action")

    def _here(self) -> bool:
        """Whether the request is meant for this site: a stranger's name may lead to this address."""
        if self.headers.get("Host") == self.server.site.origin.removeprefix("http://"):
            return True
        self._say(403, "this page is served under its own address only")
        return False

    def _known(self) -> bool:
        if self.server.site.knows(self.headers.get("Authorization", "")):
            return True
        self._say(403, "no session: open the link that the command printed")
        return False

    def _body(self) -> str:
        try:
            size = int(self.headers.get("Content-Length", ""))
        except ValueError:
            return ""
        if not 0 <= size <= _LONGEST:
            return ""
        return self.rfile.read(size).decode("utf-8", "replace")

    def _json(self, status: int, value: Any) -> None:
        self._answer(status, "application/json", json.dumps(value).encode())

    def _say(self, status: int, text: str) -> None:
        self.close_connection = True
        self._json(status, {"error": text})

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: addresses of pages are of no use in a log."""


def _form(body: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        return {}
