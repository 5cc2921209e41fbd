"""The page in a real browser: wide and narrow, light and dark, on paper. Pictures are left in build/pictures/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page

import ringtrue as rt
from browsers import Look, in_looks, take_picture, violations
from report.gallery import gallery
from ringtrue.report.html.page import render_page
from ringtrue.report.model import Report

pytestmark = pytest.mark.slow
PICTURES = Path(__file__).parents[3] / "build" / "pictures"
# Colours do not depend on the width, nor places on the colours.
LOOKS: list[Look] = [(1280, 900, "light"), (390, 900, "dark")]
SIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOWN = "[...document.querySelectorAll('.picture svg')].filter(one => one.getBoundingClientRect().width > 0)"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with every kind of chart, as a file."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_page(gallery()), encoding="utf-8")
    return path


def opened(browser: Browser, path: Path, width: int, **look: Any) -> tuple[Page, list[str]]:
    """The file in a window of its own, and what it asked the network for."""
    page = browser.new_context(viewport={"width": width, "height": 900}, **look).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    return page, asked


def checked(page: Page, asked: list[str], path: Path, name: str) -> None:
    """In every look nothing is too wide, nothing is asked for, nobody is shut out; and a picture is taken."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for look, (width, _, scheme) in zip(in_looks(page, LOOKS), LOOKS, strict=True):
        assert page.evaluate(SIDE) <= 0, look
        assert asked == [path.as_uri()], look
        found = violations(page)
        assert not found, f"{look}: {found}"
        take_picture(page, PICTURES / f"{name}-{width}-{scheme}.png")


def test_the_page_is_whole_at_any_width_in_light_and_dark(windows: Browser, written: Path) -> None:
    page, asked = opened(windows, written, 1280)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    checked(page, asked, written, "report")


def test_letters_in_pictures_can_be_read_at_any_width(windows: Browser, written: Path) -> None:
    page, _ = opened(windows, written, 320)
    figures = len(list(gallery().figures()))
    for width in (320, 390, 700, 768, 1024, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDE) <= 0, width
        scales = page.evaluate(f"{SHOWN}.map(one => one.getBoundingClientRect().width / one.viewBox.baseVal.width)")
        assert len(scales) == figures, width  # one of the two drawings of each
        assert min(scales) * 12 >= 10.5, width


def test_words_of_a_picture_stay_inside_of_it_in_the_fonts_of_the_browser(windows: Browser, written: Path) -> None:
    page, _ = opened(windows, written, 390)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        outside = page.evaluate(f"""{SHOWN}.flatMap(svg => {{
            const sheet = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter(one => {{
                const box = one.getBoundingClientRect();
                return box.left < sheet.left - 2 || box.right > sheet.right + 2;
            }}).map(one => one.textContent);
        }})""")
        assert outside == []


def test_tables_open_by_the_keyboard_and_scroll_by_themselves(windows: Browser, written: Path) -> None:
    page, _ = opened(windows, written, 390)
    details = page.locator("#figure-many details")
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    region = details.locator(".table")
    assert region.is_visible()
    page.keyboard.press("Tab")
    assert region.evaluate("one => one === document.activeElement")
    assert page.evaluate(SIDE) <= 0


def test_the_first_key_leads_past_the_navigation(windows: Browser, written: Path) -> None:
    page, _ = opened(windows, written, 1280)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answers"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_on_paper_it_is_light_and_wide_and_its_tables_are_shown(windows: Browser, written: Path) -> None:
    page, _ = opened(windows, written, 680, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert set(page.evaluate(f"{SHOWN}.map(one => one.viewBox.baseVal.width)")) == {720}
    tables = page.evaluate("[...document.querySelectorAll('table')].map(one => one.getBoundingClientRect().height)")
    assert min(tables) > 0
    assert page.evaluate(SIDE) <= 0
    assert page.pdf(format="A4").startswith(b"%PDF")


def of_dl19(data: Path) -> Report:
    """37 runs, judged by a model, and half of the queries by people too."""
    people = rt.read_judgments(data / "dl19/human.qrels")
    queries = sorted(people.frame["query"].unique())[::2]
    gold = rt.Judgments(people.frame.filter(pl.col("query").is_in(queries)))
    runs = [rt.read_run(path) for path in sorted((data / "dl19/runs").glob("*.run"))]
    return rt.report(runs, rt.read_judgments(data / "dl19/llm-umbrela_gpt4.qrels"), gold=gold, design="whole_queries")


@pytest.mark.real
def test_the_report_of_37_real_runs_is_whole(windows: Browser, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "dl19.html"
    path.write_text(render_page(of_dl19(data)), encoding="utf-8")
    assert path.stat().st_size < 3_000_000
    page, asked = opened(windows, path, 1280)
    checked(page, asked, path, "report-dl19")
