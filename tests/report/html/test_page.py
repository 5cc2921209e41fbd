"""The page: all that the report says is on it, nothing else is, and it needs nothing from anywhere."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from report.gallery import NEEDS_VOTES, ODD_NAMES, ONE_JUDGE, figure, gallery
from ringtrue.cli.shell_words import ShellSpelling
from ringtrue.formatting.grid import Grid
from ringtrue.messages import PYTHON_CALLS, Call, Note, Suggestion
from ringtrue.report.html.page import render_page
from ringtrue.report.model import Bars, Report, Section

REPORT = gallery()
VOID = {"meta", "link", "br", "hr", "img"}


@cache
def page() -> str:
    """The page of the gallery."""
    return render_page(REPORT)


class Reader(HTMLParser):
    """Elements with their attributes, and the text of each heading, cell and paragraph."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[tuple[str, list[str]]] = []
        self.feed(page)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append((tag, []))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        for _, words in self._open:
            words.append(data)

    def handle_endtag(self, tag: str) -> None:
        opened, words = self._open.pop()
        assert opened == tag, f"{opened} was closed by {tag}"
        self.texts.append((tag, "".join(words)))

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(name))]

    def written(self, *tags: str) -> list[str]:
        return [text for tag, text in self.texts if tag in tags]


@pytest.fixture(scope="module")
def read() -> Reader:
    return Reader(page())


def small(**changes: object) -> Report:
    """A report with one figure, changed like this."""
    made = figure("one", Bars(names=("a",), values=(1.0,), across="x"))
    section = Section(name="runs", title="The runs", answer="It is a.", figures=(made,))
    return replace(Report(title="t", asked=(), answers=("It is a.",), sections=(section,)), **changes)  # type: ignore[arg-type]


# What is on it.


def test_the_answers_come_before_the_sections_and_what_is_absent_comes_last() -> None:
    sections = [f'id="section-{one.name}"' for one in REPORT.sections]
    places = [page().index(mark) for mark in ('id="answers"', 'id="asked"', *sections, 'id="absent"')]
    assert places == sorted(places)


def test_every_figure_has_its_title_its_sentence_and_its_numbers(read: Reader) -> None:
    for one in REPORT.figures():
        assert one.title in read.written("h3")
        assert one.sentence in read.written("p")
    cells = Counter(read.written("th", "td"))
    wanted = Counter(cell for one in REPORT.figures() for row in one.table.rows for cell in row if "\x00" not in cell)
    assert not wanted - cells


def test_every_figure_is_drawn_for_screens_and_for_phones() -> None:
    figures = len(list(REPORT.figures()))
    assert page().count('viewBox="0 0 720 ') == page().count('viewBox="0 0 320 ') == figures


def test_a_section_says_its_answer_its_tables_and_its_notes(read: Reader) -> None:
    assert all(one.answer in read.written("p") for one in REPORT.sections if one.answer)
    assert ONE_JUDGE in read.written("li")
    tables = [table for one in REPORT.sections for table in one.tables]
    assert all(caption in read.written("h3") for caption, _ in tables)
    assert {cell for _, table in tables for row in table.rows for cell in row} <= set(read.written("th", "td"))


def test_what_is_absent_says_what_it_needs(read: Reader) -> None:
    assert NEEDS_VOTES in read.written("dd")


def test_it_says_which_version_and_seed_made_it() -> None:
    from ringtrue import __version__

    assert f" {__version__}, seed 7" in render_page(small(seed=7))
    assert "seed" not in render_page(small())


def test_what_is_to_be_typed_is_set_apart() -> None:
    page = render_page(small(notes=(Note("typed", "see `plan <x>`"), Note("lone", "a ` mark"))))
    assert "see <code>plan &lt;x&gt;</code>" in page
    assert "a ` mark" in page


def test_what_to_do_is_written_as_the_front_end_that_saves_the_page_has_it() -> None:
    more = Note("few-gold", "3 gold labels", suggestions=[Suggestion("draws more", function="sample", budget=20)])
    draw = Call("sample", ["a.run"], {"judgments": "b.qrels", "budget": 20}, "draws 20 documents")
    section = Section(name="s", title="s", answer="", calls=(draw,), notes=(more,))
    pasted, called = (Reader(render_page(small(sections=(section,)), how)) for how in (ShellSpelling(), PYTHON_CALLS))
    assert "ringtrue sample a.run --judgments b.qrels --budget 20" in pasted.written("td")
    assert "sample('a.run', judgments='b.qrels', budget=20)" in called.written("td")
    assert "--budget 20" in " ".join(pasted.written("li", "code"))
    assert "budget=20" in " ".join(called.written("li", "code"))


def test_a_report_of_nothing_is_a_page_too() -> None:
    page = render_page(Report(title="empty", asked=(), answers=(), sections=()))
    assert Reader(page).written("h1") == ["empty"]
    assert 'id="answers"' not in page


def test_a_figure_without_rows_has_no_table() -> None:
    made = figure("one", table=Grid(columns=["a"], rows=[]))
    page = render_page(small(sections=(Section(name="s", title="s", answer="", figures=(made,)),)))
    assert "<details>" not in page


# Nothing else is.


def test_names_cannot_bring_elements_or_attributes(read: Reader) -> None:
    tags = {tag for tag, _ in read.elements}
    assert tags.isdisjoint({"script", "iframe", "object", "embed", "img", "form", "b"})
    assert not [name for _, attributes in read.elements for name in attributes if name.startswith("on")]
    assert read.written("bdi").count(ODD_NAMES[0]) >= 1  # the name is there, as a name


@pytest.mark.parametrize("where", ["title", "answers", "notes", "asked", "absent"])
def test_every_place_is_escaped(where: str) -> None:
    evil = '"><script>alert(1)</script><x y="'
    note = Note("evil", evil)
    given = {"title": evil, "answers": (evil,), "notes": (note,), "asked": ((evil, evil),), "absent": ((evil, note),)}
    page = render_page(small(**{where: given[where]}))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_style_closes_where_it_should() -> None:
    assert page().count("</style>") == 1
    assert "&" not in page()[page().index("<style>") : page().index("</style>")]


def test_nothing_is_loaded_from_anywhere(read: Reader) -> None:
    assert all(value.startswith("#") or value == "data:," for value in read.values("href"))
    assert not read.values("src")
    assert not re.findall(r"https?:|//[a-z]|@import|url\((?!#)", page())
    assert "default-src 'none'" in page()


# It can be found one's way on.


def test_ids_are_unique_and_every_reference_has_its_target(read: Reader) -> None:
    ids = read.values("id")
    assert len(ids) == len(set(ids))
    named = [name for attribute in ("aria-labelledby", "aria-describedby") for value in read.values(attribute)
             for name in value.split()]  # fmt: skip
    linked = [value[1:] for value in read.values("href") if value.startswith("#")]
    clipped = re.findall(r"url\(#([^)]+)\)", page())
    assert set(named) | set(linked) | set(clipped) <= set(ids)


def test_headings_go_down_one_step_at_a_time(read: Reader) -> None:
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_every_picture_is_named_by_the_title_and_the_sentence(read: Reader) -> None:
    names = [attributes["aria-labelledby"] for tag, attributes in read.elements if tag == "svg"]
    assert set(names) == {f"{one.name}-title {one.name}-sentence" for one in REPORT.figures()}


def test_links_lead_to_every_section(read: Reader) -> None:
    assert {f"#section-{one.name}" for one in REPORT.sections} <= set(read.values("href"))


# It can be kept.


@pytest.mark.slow
def test_the_same_report_gives_the_same_page() -> None:
    assert render_page(gallery()) == page()


def test_halves_of_surrogates_can_be_written() -> None:
    assert render_page(small(title="a\ud800b")).encode()


def test_the_page_of_37_runs_is_small() -> None:
    assert len(page().encode()) < 1_000_000
