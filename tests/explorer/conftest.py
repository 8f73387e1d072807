"""One browser for all tests of the page, and pages of small models in it."""

import os
import shutil
from types import SimpleNamespace

import pytest

import explored
from condensity.explorer import write_report

BROWSERS = "chromium", "chromium-browser", "google-chrome"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright")
    named = os.environ.get("CONDENSITY_BROWSER")
    path = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium found: install it, or name one in CONDENSITY_BROWSER")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tab(browser):
    """One tab without network, and a list of all that it says or asks for."""
    context = browser.new_context(reduced_motion="reduce", color_scheme="light")
    context.set_offline(True)
    page, heard = context.new_page(), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    context.on("request", lambda request: heard.append(request.url))
    return SimpleNamespace(page=page, heard=heard)


@pytest.fixture
def visit(tab):
    """Open a file; afterwards the console must be clean and nothing else have been asked for."""
    expected = []

    def visit(path, *, width=1280):
        tab.heard.clear()
        tab.page.set_viewport_size({"width": width, "height": 844})
        tab.page.goto(path.as_uri())
        expected[:] = [path.as_uri()]
        return tab.page

    yield visit
    assert tab.heard == expected


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The report of a model of ``explored``, written once."""
    folder, written = tmp_path_factory.mktemp("reports"), {}

    def report(kind, **options):
        key = kind + repr(sorted(options))
        if key not in written:
            model, y = explored.fitted(kind)
            path = folder / f"{len(written)}.html"
            data = {"X": explored.X, "y": y, "X_test": explored.X[:40], "y_test": y[:40]}
            written[key] = write_report(model, path, **(data | options))
        return written[key]

    return report
