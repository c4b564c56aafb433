"""axe-core, which finds what keeps a page from people who see or move otherwise."""

from functools import cache
from importlib.resources import files

RUN = "axe.run(document, {resultTypes: ['violations']}).then(arguments[arguments.length - 1])"


@cache
def engine():
    return (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(browser):
    """Each rule that the open page breaks, with the first element that breaks it."""
    browser.execute_script(engine())
    found = browser.execute_async_script(RUN)["violations"]
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:120]}" for rule in found]


def violations_anywhere(browser):
    """The same with everything unfolded, in light and in dark colours; the page is light afterwards."""
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    found = []
    for scheme in ("dark", "light"):
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
        found += [f"{scheme}: {broken}" for broken in violations(browser)]
    return found
