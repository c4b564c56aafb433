"""What tests of pages that change do all the time: read, wait, press.

The text is read by the page itself: the driver's own way looks at the style of every element, which
takes most of a test's time when a page is read again and again.
"""

from tests.coordinator.support import wait_for

_TEXT = "return document.body.innerText"
_FITS = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def text(browser):
    return browser.execute_script(_TEXT)


def has(browser, selector):
    """Whether an element fits the selector."""
    return browser.execute_script("return !!document.querySelector(arguments[0])", selector)


def until(browser, words):
    wait_for(
        lambda: browser.execute_script(f"{_TEXT}.includes(arguments[0])", words),
        f"'{words}' on the page",
    )


def press(browser, action):
    browser.find_element("css selector", f"form[data-action={action}] button").click()


def fits(browser, width):
    """Whether the page is not wider than a window of this width."""
    browser.set_window_size(width, 900)
    return browser.execute_script(_FITS)
