"""A real browser, patient with a machine that is busy; pictures of its pages, and what axe says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from real_parts import browser_path

PATIENCE = 20_000  # milliseconds until what is expected of a page must be there
# Pages are drawn without a graphics card or one that is imitated, and in files where /dev/shm is small.
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
BUSY = "Unable to capture screenshot"  # no frame was ready in time
LOOK_RULES = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
TRIES, PAUSE = 5, 500  # milliseconds
UNSEEN = 80  # milliseconds in which the server takes no answer from a page that it has just sent
Look: TypeAlias = tuple[int, int, Literal["light", "dark"]]  # width, height and colours of a window


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of a module; each opens windows of its own. While it runs, asyncio runs nothing else here."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def windows(browser: Browser) -> Iterator[Browser]:
    """The browser, whose windows are closed when the test ends, so that none goes on working beside the next test."""
    yield browser
    for context in browser.contexts:
        context.close()


def take_picture(page: Page, path: Path) -> None:
    """Take a picture of a page; where the machine is too busy to draw it, wait a moment and try again."""
    for left in reversed(range(TRIES)):
        try:
            page.screenshot(path=path)
        except Error as error:
            if BUSY not in error.message or not left:
                raise
            page.wait_for_timeout(PAUSE)
        else:
            return


def shows(page: Page, far: str) -> None:
    """Wait for the question that is so far in its task, and until an answer to it is taken."""
    expect(page.locator("#far")).to_have_text(far)
    page.wait_for_load_state()
    if page.locator("#keys:not([hidden])").count():  # the script runs
        expect(page.locator("#judging[data-seen]")).to_be_attached()
    else:
        page.wait_for_timeout(UNSEEN)


def comes_to(page: Page, heading: str) -> None:
    """Wait for the page with this heading, whole."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    page.wait_for_load_state()


def in_looks(page: Page, looks: Sequence[Look]) -> Iterator[str]:
    """Show a page in one look after another, and say in which; to load it anew for each would take far longer."""
    for width, height, scheme in looks:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        yield f"{width} × {height}, {scheme}"


def violations(page: Page) -> str:
    """What axe finds on a page that would shut somebody out; nothing where it finds nothing.

    In a second look at the same page only the rules are tried that hang on its colours and size.
    """
    is_second_look = page.evaluate("typeof axe") == "object"  # to load it once more would take longer than to run it
    axe = Axe("null" if is_second_look else AXE_SCRIPT)
    rules = {"runOnly": LOOK_RULES} if is_second_look else {}
    found = axe.run(page, options={"resultTypes": ["violations"], **rules})  # what passes need not be written out
    return str(found.generate_report()) if found.violations_count else ""
