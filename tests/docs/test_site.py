"""The documentation as a site: it builds without a warning, and every page works from a disk, with no network.

Links that lead elsewhere are only looked at, never followed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from browsers import Look, in_looks, violations

pytestmark = pytest.mark.slow  # all but one need the whole site
ROOT = Path(__file__).parents[2]
VOID = {"meta", "link", "input", "br", "hr", "img"}  # elements without an end
LEFT = re.compile(r"^(?:[-*] |\d+\. |\|.*\|$|```)|\]\(", re.M)  # marks that should have become HTML
LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("form", "action")}
MAIN = (
    "index", "how-to/correct-by-gold", "how-to/collect-by-api", "ideas/correction", "reference/command-line",
    "reference/python",
)  # fmt: skip
LOOKS: list[Look] = [(1280, 900, "light"), (390, 900, "dark")]
LONG_LISTS = ("reference/python",)  # axe takes a quarter of a minute for its elements, which others have too


@dataclass(kw_only=True, slots=True)
class Seen:
    """What there is on a page: where it leads, what it loads, its anchors, its text outside of code."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """Reads a page, and minds that every element ends where it should."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = Seen()
        self.open: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name, value in given.items():
            if (tag, name) in LOADS:
                self.seen.loads.append(value or "")
        if tag == "a":
            self.seen.links.append(given.get("href") or "")
            if any(within.get("id") == "pages" for _, within in self.open):
                self.seen.pages.append(given.get("href") or "")
        if given.get("id"):
            self.seen.ids.append(given["id"] or "")
        if tag not in VOID:
            self.open.append((tag, given))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1][0] != tag:
            self.seen.faults.append(f"</{tag}> at line {self.getpos()[0]} ends nothing")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        tags = {tag for tag, _ in self.open}
        if "article" in tags and not tags & {"code", "pre", "h1", "h2", "h3"}:
            self.seen.text.append(data.strip())


def read(page: Path) -> Seen:
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    reader.seen.faults += [f"<{tag}> does not end" for tag, _ in reader.open]
    return reader.seen


def elsewhere(address: str) -> bool:
    return bool(urlsplit(address).scheme or urlsplit(address).netloc)


def target(page: Path, address: str) -> tuple[Path, str]:
    """The file that a link on a page leads to, and the place in it."""
    parts = urlsplit(address)
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page, unquote(parts.fragment)


def broken(pages: dict[Path, Seen]) -> Iterator[str]:
    """Links and files to load that are not there, and anchors that no element has."""
    for page, seen in pages.items():
        for address in [*seen.links, *seen.loads]:
            if elsewhere(address):
                continue
            file, anchor = target(page, address)
            if not file.is_file():
                yield f"{page.name}: {address!r} leads to no file"
            elif anchor and anchor not in pages[file].ids:
                yield f"{page.name}: {address!r} leads to no place on that page"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` does."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]  # --quiet hides warnings
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr, built.stderr
    return folder.resolve()


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Seen]:
    return {page: read(page) for page in sorted(site.rglob("*.html"))}


def test_there_is_a_page_for_every_file_of_the_documentation(site: Path, pages: dict[Path, Seen]) -> None:
    files = {file.relative_to(ROOT / "docs").with_suffix(".html") for file in (ROOT / "docs").rglob("*.md")}
    wanted = {file.with_name("index.html") if file.name == "README.html" else file for file in files}
    assert {page.relative_to(site) for page in pages} == wanted


def test_no_link_and_no_anchor_is_broken(pages: dict[Path, Seen]) -> None:
    assert list(broken(pages)) == []


def test_every_page_is_in_the_list_of_pages_of_every_page(pages: dict[Path, Seen]) -> None:
    for page, seen in pages.items():
        assert {target(page, address)[0] for address in seen.pages} == set(pages), page.name


def test_no_page_loads_anything_from_another_host(site: Path, pages: dict[Path, Seen]) -> None:
    assert [(page.name, address) for page, seen in pages.items() for address in seen.loads if elsewhere(address)] == []
    for sheet in site.rglob("*.css"):
        assert not re.search(r"@import|url\(", sheet.read_text()), sheet.name


def test_links_that_lead_elsewhere_are_https(pages: dict[Path, Seen]) -> None:
    away = {address for seen in pages.values() for address in seen.links if elsewhere(address)}
    assert [address for address in sorted(away) if urlsplit(address).scheme != "https"] == []


def test_every_page_is_whole(pages: dict[Path, Seen]) -> None:
    assert [(page.name, seen.faults) for page, seen in pages.items() if seen.faults] == []
    assert [page.name for page, seen in pages.items() if max(Counter(seen.ids).values()) > 1] == []


def test_no_list_table_or_link_stayed_a_mere_text(pages: dict[Path, Seen]) -> None:
    assert [(page.name, text) for page, seen in pages.items() for text in seen.text if LEFT.search(text)] == []


def test_a_site_with_faults_is_found_out(tmp_path: Path) -> None:
    links = '<a href="#there">t</a><a href="x.html">x</a><img src="y.png">'
    (tmp_path / "index.html").write_text(f'<article><p id="here">- a\n- b <b>{links}</p></article>')
    seen = read(tmp_path / "index.html")
    assert len(list(broken({tmp_path / "index.html": seen}))) == 3
    assert seen.faults
    assert any(LEFT.search(said) for said in seen.text)


# The site's script lets what can be scrolled be reached by keyboard as soon as the browser has laid it out.
REACHABLE = """[...document.querySelectorAll('pre, .scroll')].every(
    (block) => block.scrollWidth <= block.clientWidth || block.tabIndex === 0)"""


def opened(browser: Browser, site: Path) -> tuple[Page, list[str]]:
    """A window without a network, and what was asked of any."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True).new_page()
    asked: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith(site.as_uri()):
            asked.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda error: asked.append(str(error)))
    return page, asked


@pytest.mark.parametrize("name", MAIN)
def test_no_page_shuts_anybody_out_is_too_wide_or_needs_a_network(windows: Browser, site: Path, name: str) -> None:
    page, asked = opened(windows, site)
    page.goto(f"{site.as_uri()}/{name}.html")
    for look in in_looks(page, LOOKS):
        page.wait_for_function(REACHABLE)
        if name not in LONG_LISTS:
            found = violations(page)
            assert not found, f"{look}: {found}"
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{look}: {wide} pixels wider than the screen"
    assert asked == []


def test_search_works_from_a_disk_and_by_keyboard(windows: Browser, site: Path) -> None:
    page, asked = opened(windows, site)
    page.goto(f"{site.as_uri()}/ideas/intervals.html")
    page.keyboard.press("/")
    page.keyboard.type("krippendorff_alpha")
    expect(page.locator(".found a").first).to_contain_text("krippendorff_alpha")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{site.as_uri()}/reference/python.html#krippendorff_alpha")
    page.fill("#query", "zzzzzz")
    expect(page.locator(".count")).to_have_text("0 places")
    page.keyboard.press("Escape")
    expect(page.locator(".found")).to_be_hidden()
    assert asked == []


def test_all_pages_can_be_reached_without_a_script(windows: Browser, site: Path) -> None:
    page = windows.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844}).new_page()
    page.goto(f"{site.as_uri()}/index.html")
    page.click("text=All pages")
    page.click("#pages summary:has-text('Ideas')")
    page.click("#pages a:text-is('Reading an interval')")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Reading an interval")
