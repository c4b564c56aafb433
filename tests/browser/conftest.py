"""A real browser without a window: one for all files of a process of tests, as new for each file."""

import contextlib
import shutil

import pytest

from tests import forks

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
NEEDS_BROWSER = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="chromium and chromedriver are not installed"
)
# Nothing is asked of anybody by the browser itself, and nothing moves that nobody looks at.
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--force-prefers-reduced-motion",
)
_SIZE = (1400, 1000)


@contextlib.contextmanager
def opened(profile):
    """A browser whose own files are in the folder `profile`."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def _browser(tmp_path_factory):
    forks.begin()  # while the browser starts
    with opened(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def browser(_browser):
    """The browser with an empty page, in ordinary size and colours."""
    _browser.set_window_size(*_SIZE)
    _browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    _browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    yield _browser
    _browser.get("about:blank")
    _browser.get_log("browser")
