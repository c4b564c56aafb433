"""axe-core, which finds what keeps a page from people who see or move otherwise."""

from functools import cache
from importlib.resources import files

RUN = "axe.run(document, arguments[0]).then(arguments[arguments.length - 1])"
ALL_RULES = {"resultTypes": ["violations"]}
OF_COLOURS = {**ALL_RULES, "runOnly": {"type": "rule", "values": ["color-contrast"]}}


@cache
def engine():
    return (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(browser, rules=ALL_RULES):
    """Each rule that the open page breaks, with the first element that breaks it."""
    if not browser.execute_script("return 'axe' in window"):
        browser.execute_script(engine())
    found = browser.execute_async_script(RUN, rules)["violations"]
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:120]}" for rule in found]


def violations_anywhere(browser):
    """The same with everything unfolded, in light and in dark colours; the page is light afterwards.

    Of the rules only that of contrast depends on the colours.
    """
    browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    found = []
    for scheme, rules in (("dark", OF_COLOURS), ("light", ALL_RULES)):
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
        found += [f"{scheme}: {broken}" for broken in violations(browser, rules)]
    return found
