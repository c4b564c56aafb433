"""Pages that a command serves to one browser while it runs: their shell and their script.

The shell holds no secrets. The script trades the link's token for a session, asks again and again for
the view, and puts the parts that have changed in place of the old ones, so that focus, selection and
scrolling stay. A view is `{"parts": {id: markup}, "log": [lines], "report": bool, "error": text}`; its
markup is written by `markup`, which escapes every text. Buttons and forms name an action in
`data-action`; the script posts their fields. At `"report": true` the page becomes the report.
"""

from __future__ import annotations

from collections.abc import Sequence

from coterie.jobs.pages.markup import Content, Element, element
from coterie.jobs.pages.page import STYLE


def shell(title: str, parts: Sequence[str], *fixed: Content) -> str:
    """The page before the first view. `parts` are ids that views fill; `fixed` stays as it is."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", STYLE + _STYLE),
        element("script", src="/script.js", defer=""),
    )
    main = element(
        "main",
        element("h1", title),
        element("p", "Connecting …", id="notice", class_="quiet", role="status"),
        [element("div", id=name) for name in parts],
        *fixed,
    )
    whole = element("html", head, element("body", main), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def log_box() -> Element:
    """A list that grows by the lines of the views' log."""
    return element(
        "section",
        element("h2", "Log", id="log-title"),
        element(
            "div",
            element("ol", id="log"),
            class_="log",
            role="log",
            aria_labelledby="log-title",
            aria_live="polite",
            tabindex="0",
        ),
    )


def action(name: str, words: str, *fields: Content, sure: str | None = None) -> Element:
    """A form with one button. With `sure` the button first asks this, and acts when pressed again."""
    button = element("button", words, type="submit")
    return element("form", *fields, button, data_action=name, data_sure=sure)


def hidden(name: str, value: str) -> Element:
    return element("input", type="hidden", name=name, value=value)


def text_field(id_: str, name: str, words: str) -> Element:
    """A field for a line of text, with its label."""
    return element(
        "p", element("label", words, for_=id_), element("input", type="text", name=name, id=id_, maxlength="300")
    )  # fmt: skip


SCRIPT = """'use strict';
const byId = id => document.getElementById(id);
const notice = text => { const box = byId('notice'); if (box && box.textContent !== text) box.textContent = text; };
let session = sessionStorage.getItem('session'), over = false;

async function call(path, body) {
  const options = { method: body === undefined ? 'GET' : 'POST', body,
                    headers: session ? { Authorization: 'Bearer ' + session } : {} };
  const answer = await fetch(path, options), told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

async function enter() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, '', '/');
  session = (await call('/enter', token)).session;
  sessionStorage.setItem('session', session);
}

function nodes(markup) {
  return [...new DOMParser().parseFromString(markup, 'text/html').body.childNodes];
}

const shown = new Map();
function show(view) {
  for (const [id, markup] of Object.entries(view.parts)) {
    const place = byId(id);
    if (!place || shown.get(id) === markup) continue;
    if (place.contains(document.activeElement) && document.activeElement.matches('input, textarea')) continue;
    const written = new Map([...place.querySelectorAll('input[type=text]')].map(i => [i.id, i.value]));
    const unfolded = new Set([...place.querySelectorAll('details[open] > summary')].map(s => s.textContent));
    shown.set(id, markup);
    place.replaceChildren(...nodes(markup));
    for (const input of place.querySelectorAll('input[type=text]')) input.value = written.get(input.id) || '';
    for (const summary of place.querySelectorAll('summary'))
      if (unfolded.has(summary.textContent)) summary.parentElement.open = true;
  }
  const log = byId('log');
  if (log) {
    for (const line of view.log.slice(Math.max(0, Number(log.dataset.seen || 0) - view.skipped))) {
      const item = document.createElement('li');
      item.textContent = line;
      log.append(item);
    }
    log.dataset.seen = view.skipped + view.log.length;
    log.parentElement.scrollTop = log.parentElement.scrollHeight;
  }
  notice(view.notice);
}

function become(report) {
  const page = new DOMParser().parseFromString(report, 'text/html');
  document.title = page.title;
  document.head.replaceChildren(...page.head.querySelectorAll('meta[charset], meta[name], title, style'));
  document.body.replaceChildren(...page.body.childNodes);
  scrollTo(0, 0);
}

async function follow() {
  let failures = 0;
  while (!over) {
    try {
      const view = await call('/view');
      failures = 0;
      show(view);
      if (view.over) {
        over = true;
        for (const form of document.querySelectorAll('form')) form.remove();
        if (view.report) become((await call('/report')).page);
        else await call('/end');
        return;
      }
    } catch (error) {
      if (!(error instanceof TypeError)) { notice(error.message); return; }
      if (++failures > 3) { notice('The command that served this page has ended.'); return; }
    }
    await new Promise(done => setTimeout(done, 400));
  }
}

document.addEventListener('submit', async event => {
  event.preventDefault();
  const form = event.target, buttons = form.querySelectorAll('button');
  const words = form.dataset.sure;
  if (words && !form.dataset.asked) {
    form.dataset.asked = '1'; buttons[0].textContent = words; return;
  }
  for (const button of buttons) button.disabled = true;
  try {
    const told = await call('/' + form.dataset.action, new URLSearchParams(new FormData(form)));
    notice(told.notice);
  } catch (error) { notice(error.message); }
  for (const button of buttons) button.disabled = false;
});

enter().then(follow, error => notice(error.message));
"""

_STYLE = """
.log{max-height:16rem;overflow-y:auto;background:var(--soft)}#log{margin:0;padding:.6rem .6rem .6rem 2.4rem;
font:.86rem/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
#log li{max-width:none}
button{font:inherit;padding:.45rem 1rem;border:1px solid var(--bar);border-radius:4px;background:var(--paper);
color:var(--bar);cursor:pointer;margin:.3rem .4rem .3rem 0}
button:hover{background:var(--soft)}
button:disabled{opacity:.5;cursor:default}
.question{border:1px solid var(--edge);border-radius:6px;padding:.2rem 1rem .8rem;margin:1rem 0}
label{display:block}
input[type=text]{font:inherit;padding:.4rem;border:1px solid var(--quiet);border-radius:4px;width:100%;max-width:26rem;
background:var(--paper);color:var(--ink)}
.house{fill:var(--soft);stroke:var(--bar);stroke-width:2}
.house.finished{fill:var(--goodsoft);stroke:var(--good)}
.house.failed,.house.silent{fill:var(--badsoft);stroke:var(--bad)}
.house.waiting{stroke-dasharray:5 4}
.road{stroke:var(--edge);stroke-width:3;fill:none}
.flow{stroke:var(--bar);stroke-width:3;stroke-dasharray:3 9;stroke-linecap:round;fill:none}
.flow.out{animation:out .8s linear infinite}
@keyframes out{to{stroke-dashoffset:-12}}
@media(prefers-reduced-motion:reduce){.flow{animation:none!important}}
.badword{color:var(--bad);font-weight:600}.goodword{color:var(--good);font-weight:600}
svg text.badword{fill:var(--bad)!important}
"""
