"""How documents and guidelines are shown: nothing of them runs, nothing of them is lost."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from ringtrue.service.store.records import ShownDocument
from ringtrue.service.web.safe_html import (
    MAX_MARKS,
    compile_query_patterns,
    highlight_text,
    make_document_view,
    render_guidelines,
)

NASTY = """<script>alert(1)</script><ScRiPt src=//x.org/a.js></sCrIpT><img src=x onerror=alert(1)><svg onload=alert(1)>
<a href="javascript:alert(1)">a</a><a href=" jAvAscript:alert(1)">b</a><a href="data:text/html,x">c</a>
<iframe src="https://x.org"></iframe><form action="/p/x/answer"><input name=csrf><button>go</button></form>
<style>body{display:none}</style><link rel=stylesheet href=//x.org><meta http-equiv=refresh content=0><base href=/x>
<div style="position:fixed" class="answers" id="judging" onclick="x()">d<p>e</div><math><mtext></p></table><td>f"""


class Tags(HTMLParser):
    """What a browser would find in a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def document(**given: str | None) -> ShownDocument:
    empty = dict.fromkeys(("title", "url", "snippet", "text"))
    return ShownDocument(**{"name": "doc-7", **empty, **given})  # type: ignore[arg-type]


def words_marked(text: str, query: str) -> list[str]:
    return re.findall("<mark>(.*?)</mark>", highlight_text(text, compile_query_patterns(query)))


def test_scripts_and_broken_html_appear_as_text() -> None:
    shown = make_document_view(document(text=NASTY), compile_query_patterns("alert"), html=False)
    assert {tag for tag, _ in Tags(shown.pieces[0]).found} == {"mark"}
    assert unescape(shown.pieces[0].replace("<mark>", "").replace("</mark>", "")) == NASTY


def test_html_documents_are_sanitised_when_the_project_says_so() -> None:
    shown = make_document_view(document(text=NASTY), compile_query_patterns("nothing"), html=True)
    found = Tags(shown.pieces[0]).found
    assert {tag for tag, _ in found} <= {"a", "div", "p", "td"}
    assert {name for _, attributes in found for name in attributes} <= {"rel", "target"}
    assert "alert" not in shown.pieces[0]


def test_links_of_html_documents_lead_out_in_a_new_tab_without_telling_where_from() -> None:
    text = '<a href="https://a.org/?x=<h1>&amp;y">out</a><a href="/p/x/answer">in</a><a href="//b.org">c</a>'
    links = [
        attributes for tag, attributes in Tags(make_document_view(document(text=text), (), html=True).pieces[0]).found
    ]
    assert [link.get("href") for link in links] == ["https://a.org/?x=%3Ch1%3E&y", None, None]
    assert {(link["rel"], link["target"]) for link in links} == {("noopener noreferrer nofollow", "_blank")}


def test_headings_of_html_documents_stand_below_the_documents_own() -> None:
    shown = make_document_view(document(text='<h1 lang="de">Eins</h1><h5>Zwei</h5>'), (), html=True)
    assert shown.pieces[0] == '<h3 lang="de">Eins</h3><h3>Zwei</h3>'


def test_words_are_marked_in_the_text_of_html_and_never_in_its_tags() -> None:
    text = '<a href="https://href.org/amp">Amp &amp; href</a> <b>&lt;amp&gt;</b>'
    shown = make_document_view(document(text=text), compile_query_patterns("amp href b"), html=True).pieces[0]
    assert re.findall("<mark>(.*?)</mark>", shown) == ["Amp", "href", "amp"]
    assert '<a href="https://href.org/amp"' in shown
    assert "&lt;<mark>amp</mark>&gt;" in shown


def test_a_plain_text_keeps_its_lines_even_where_documents_are_html() -> None:
    shown = make_document_view(document(text="one\ntwo & three"), (), html=True)
    assert (shown.html, shown.pieces) == (False, ("one\ntwo &amp; three",))


def test_whole_words_are_marked_whatever_their_case() -> None:
    text = "Wind, WINDS wind-power rewind unwind_wind Wind"
    assert words_marked(text, "wind Power") == ["Wind", "wind", "power", "Wind"]


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("Größe", "GRÖSSE größe Größen GRÖßE", ["größe", "GRÖßE"]),
        ("café", "cafe\u0301 cafe café", ["cafe\u0301", "café"]),
        ("cafe", "cafe\u0301 cafe", ["cafe"]),
        ("Москва", "в МОСКВА, москвах", ["МОСКВА"]),
        ("हिन्दी", "यह हिन्दी है", ["हिन्दी"]),
        ("東京 天気", "今日の東京の天気は", ["東京", "天気"]),
        ("istanbul", "İİİ İstanbul istanbul", ["istanbul"]),
        ("ΟΔΟΣ", "η οδος", ["οδος"]),
        ("c++ (x", "c++ (x)", ["c", "x"]),
        ("r&d", "R&D & <d>", ["R", "D", "d"]),
    ],
)
def test_words_of_any_script_are_found(query: str, text: str, found: list[str]) -> None:
    assert words_marked(text, query) == found


def test_common_words_are_left_alone_unless_the_query_has_no_others() -> None:
    assert words_marked("the cat of the house", "What is the cat?") == ["cat"]
    assert words_marked("to be or not", "to be") == ["to", "be"]


@given(st.text(max_size=200), st.text(max_size=40))
def test_marking_changes_no_character(text: str, query: str) -> None:
    shown = highlight_text(text, compile_query_patterns(query))
    assert unescape(shown.replace("<mark>", "").replace("</mark>", "")) == unescape(str(highlight_text(text, ())))
    assert {tag for tag, _ in Tags(shown).found} <= {"mark"}


def test_a_document_of_five_megabytes_is_shown_whole_in_pieces_with_few_marks() -> None:
    line = "wind power & water " * 300
    text = "\n".join([line] * 900)
    pieces = make_document_view(document(text=text), compile_query_patterns("wind"), html=False).pieces
    assert unescape("\n".join(pieces).replace("<mark>", "").replace("</mark>", "")) == text
    assert sum(piece.count("<mark>") for piece in pieces) == MAX_MARKS
    assert max(map(len, pieces)) < 50_000


@pytest.mark.parametrize("gap", ["", " "])
def test_a_line_without_end_is_cut_too(gap: str) -> None:
    text = f"abcdefghi{gap}" * 100_000
    pieces = make_document_view(document(text=text), (), html=False).pieces
    assert gap.join(pieces) == text
    assert len(pieces) >= 9


def test_the_name_of_a_document_is_hidden_unless_there_is_nothing_else() -> None:
    assert make_document_view(document(title="One"), (), html=False).name is None
    nothing = make_document_view(document(text="  \n", title=""), (), html=False)
    assert nothing.note is not None
    assert (nothing.name, nothing.note.code) == ("doc-7", "empty-document")


def test_a_document_without_text_says_so() -> None:
    note = make_document_view(document(title="One"), (), html=False).note
    assert note is not None
    assert note.code == "document-without-text"
    assert make_document_view(document(snippet="Some"), (), html=False).note is None


def test_a_snippet_that_the_text_holds_is_not_shown_twice() -> None:
    assert make_document_view(document(snippet="two", text="one two three"), (), html=False).snippet is None
    assert make_document_view(document(snippet="four", text="one two three"), (), html=False).snippet == "four"


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://a.org/x", True), ("HTTP://a.org", True), ("javascript:alert(1)", False), ("ftp://a.org", False),
        ("https:///x", False), ("/etc/passwd", False), ("http://[", False), ("data:text/html,x", False),
    ],
)  # fmt: skip
def test_only_addresses_of_the_web_become_links(url: str, link: bool) -> None:
    shown = make_document_view(document(url=url), (), html=False)
    assert (shown.url, shown.link) == (url, link)


def test_guidelines_are_markdown_without_html_scripts_or_pictures() -> None:
    shown = render_guidelines(f"- *one*\n\n[a](javascript:alert) ![p](https://x.org/p.png) <https://y.org>\n\n{NASTY}")
    found = Tags(shown).found
    assert {tag for tag, _ in found} <= {"ul", "li", "em", "p", "a"}
    assert {attributes["href"] for tag, attributes in found if tag == "a"} == {"https://x.org/p.png", "https://y.org"}
    assert {attributes["rel"] for tag, attributes in found if tag == "a"} == {"noopener noreferrer nofollow"}


def test_headings_of_guidelines_leave_out_no_level() -> None:
    shown = render_guidelines("### a\n# b\n#### c\n###### d\n# e", top=3)
    assert [tag for tag, _ in Tags(shown).found] == ["h3", "h3", "h4", "h5", "h3"]
