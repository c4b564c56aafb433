"""A site on the loopback interface answers the one browser that has its link, and nobody else."""

import http.client
import json
import socket

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.transport import loopback_site
from coterie.transport.loopback_site import LoopbackSite


@pytest.fixture
def site():
    done = []
    with LoopbackSite(
        "<p>page</p>", "script", {"view": lambda: {"secret": 7}}, {"act": lambda form: done.append(form) or {}}
    ) as opened:  # fmt: skip
        opened.done = done
        yield opened


def ask(site, method, path, body=None, session=None, **changed):
    host = site.origin.removeprefix("http://")
    headers = {"Host": host, "Origin": site.origin}
    if session:
        headers["Authorization"] = f"Bearer {session}"
    headers |= {name: value for name, value in changed.items() if value is not None}
    for name in [name for name, value in changed.items() if value is None]:
        headers.pop(name)
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), answer.headers


def session_of(site):
    token = site.link.split("#")[1]
    status, body, _ = ask(site, "POST", "/enter", token)
    assert status == 200
    return json.loads(body)["session"]


def test_the_token_gives_one_session(site):
    token = site.link.split("#")[1]
    session = session_of(site)
    assert ask(site, "GET", "/view", session=session)[:2] == (200, '{"secret": 7}')
    assert ask(site, "POST", "/enter", token)[0] == 403


def test_the_token_and_the_session_cannot_be_guessed(monkeypatch):
    """Each is drawn with 32 bytes, and one is not the other."""
    sizes = []
    drawn = loopback_site.secrets.token_urlsafe
    monkeypatch.setattr(
        loopback_site.secrets, "token_urlsafe", lambda size: sizes.append(size) or drawn(size)
    )
    with LoopbackSite("", "", {}, {}) as opened:
        token, session = opened.link.split("#")[1], session_of(opened)
    assert sizes == [32, 32]
    assert len(token) == len(session) == 43
    assert token != session


@pytest.mark.parametrize("session", [None, "", "guess", "x" * 5000, "é"])
def test_without_the_session_nothing_is_told_or_done(site, session):
    session_of(site)
    header = {"Authorization": f"Bearer {session}".encode()} if session is not None else {}
    for method, path in (("GET", "/view"), ("POST", "/act")):
        status, body, _ = ask(site, method, path, body="a=1", **header)
        assert status == 403
        assert "7" not in body
    assert site.done == []


def test_page_and_script_are_for_everybody(site):
    assert ask(site, "GET", "/", Origin=None)[1] == "<p>page</p>"
    assert ask(site, "GET", "/script.js", Origin=None)[1] == "script"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost", "127.0.0.1:1"])
def test_a_strangers_name_that_leads_here_is_refused(site, host):
    session = session_of(site)
    assert ask(site, "GET", "/view", session=session, Host=host)[0] == 403
    assert ask(site, "GET", "/", Host=host)[0] == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", None])
def test_a_page_of_another_origin_changes_nothing(site, origin):
    token = site.link.split("#")[1]
    assert ask(site, "POST", "/enter", token, Origin=origin)[0] == 403
    session = session_of(site)
    assert ask(site, "POST", "/act", "a=1", session=session, Origin=origin)[0] == 403
    assert site.done == []


def test_nothing_is_changed_by_a_get_and_an_action_gets_its_fields(site):
    session = session_of(site)
    assert ask(site, "GET", "/act", session=session)[0] == 404
    assert site.done == []
    assert ask(site, "POST", "/act", "job=a%26b&why=", session=session)[0] == 200
    assert site.done == [{"job": "a&b", "why": ""}]


def test_sizes_are_bounded(site):
    session = session_of(site)
    ask(site, "POST", "/act", "a=" + "x" * 70_000, session=session)
    ask(site, "POST", "/act", "&".join(f"f{at}=1" for at in range(60)), session=session)
    assert site.done == [{}, {}]


def test_the_policy_permits_no_other_place(site):
    headers = ask(site, "GET", "/")[2]
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Set-Cookie" not in headers


def test_only_the_loopback_interface_listens(site):
    assert site.origin.startswith("http://127.0.0.1:")


def test_a_port_in_use_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            EnvironmentFaultError, match=f"127.0.0.1:{port}: Address already in use"
        ):
            LoopbackSite("", "", {}, {}, port)
