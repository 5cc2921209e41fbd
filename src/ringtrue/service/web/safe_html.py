"""How documents, queries and guidelines are shown: as safe HTML, with the words of the query marked.

What comes from a document is escaped, or sanitised where the project says that its documents are HTML. Marks stand only
where a word of the query was found, so that a document of some megabytes is still a few pieces of text for the browser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import nh3
from markupsafe import Markup, escape

from ringtrue.service.web.highlight import MOST_MARKS, marked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from ringtrue.service.store.records import ShownDocument

__all__ = ["Reading", "guidelines_as_html", "reading"]

PIECE = 20_000  # characters: a browser lays out only the pieces in view
LONGEST_PIECE = 5 * PIECE
LINK = {"target": "_blank", "rel": "noopener noreferrer nofollow"}

TAGS = {
    "a", "abbr", "article", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "div", "dl", "dt", "em",
    "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li", "ol", "p", "pre", "q",
    "s", "samp", "section", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
    "tr", "u", "ul", "var",
}  # fmt: skip
# A tag's attributes hold no angle bracket (see `_kept`), so that tags and text are told apart without parsing again.
TAG = re.compile(r"(<[^>]*>)")
HEADING = re.compile(r"<(/?)h[1-6]\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A document as the page shows it. `name` is there only when nothing else is, and `note` says what is missing."""

    title: Markup | None
    url: str | None
    link: bool
    snippet: Markup | None
    pieces: tuple[Markup, ...]
    html: bool
    name: str | None
    note: str | None


def reading(document: ShownDocument, words: Sequence[re.Pattern[str]], *, html: bool) -> Reading:
    """Make a document ready for the page.

    Examples:
        >>> from ringtrue.service.store.records import ShownDocument
        >>> from ringtrue.service.web.highlight import query_words
        >>> plain = ShownDocument(name="d1", title="One", url="javascript:x", snippet=None, text="<script>a cat")
        >>> shown = reading(plain, query_words("cat"), html=False)
        >>> shown.pieces[0], shown.link, shown.name
        (Markup('&lt;script&gt;a <mark>cat</mark>'), False, None)
    """
    title, url, snippet, text = (_given(one) for one in (document.title, document.url, document.snippet, document.text))
    if snippet is not None and text is not None and snippet.strip() in text:
        snippet = None
    rich = html and text is not None and "<" in text
    nothing = title is None and url is None and snippet is None and text is None
    if text is None and snippet is None:
        note = "This document has no text." if nothing else "This document has no text here: judge by what is shown."
    else:
        note = None
    pieces: tuple[Markup, ...] = ()
    if text is not None:
        pieces = (_sanitised(text, words),) if rich else _plain(text, words)
    return Reading(
        title=None if title is None else marked(title, words),
        url=url,
        link=url is not None and _is_web_address(url),
        snippet=None if snippet is None else marked(snippet, words),
        pieces=pieces,
        html=rich,
        name=document.name if nothing else None,
        note=note,
    )


def _given(text: str | None) -> str | None:
    return text if text and not text.isspace() else None


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _plain(text: str, words: Sequence[re.Pattern[str]]) -> tuple[Markup, ...]:
    if len(text) <= PIECE:
        return (marked(text, words),)
    pieces: list[Markup] = []
    left = MOST_MARKS
    for piece in _pieces(text):
        shown = marked(piece, words, most=left) if left else escape(piece)
        left -= shown.count("<mark>")
        pieces.append(shown)
    return tuple(pieces)


def _pieces(text: str) -> Iterator[str]:
    """Cut a long text where a line ends, which the border of two blocks then shows; a line without end, at a space."""
    start = 0
    while len(text) - start > PIECE:
        end = text.find("\n", start + PIECE, start + LONGEST_PIECE)
        if end < 0 and len(text) - start <= LONGEST_PIECE:
            break
        if end < 0:
            end = text.rfind(" ", start + PIECE, start + LONGEST_PIECE)
        gap = end >= 0
        if not gap:
            end = start + LONGEST_PIECE
        yield text[start:end]
        start = end + gap
    yield text[start:]


def _sanitised(text: str, words: Sequence[re.Pattern[str]]) -> Markup:
    clean = _cleaner().clean(text)
    clean = HEADING.sub(r"<\1h3", clean)  # below the document's own heading, whatever it was where it came from
    if not words:
        return Markup(clean)  # sanitised
    left = MOST_MARKS
    out: list[str] = []
    for piece in TAG.split(clean):
        if not piece or piece[0] == "<" or not left:
            out.append(piece)
            continue
        shown = marked(unescape(piece), words, most=left)
        left -= shown.count("<mark>")
        out.append(shown)
    return Markup("".join(out))  # sanitised, and text escaped


@lru_cache(maxsize=1)
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=TAGS,
        attributes={"a": {"href"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}, "*": {"lang", "dir"}},
        attribute_filter=_kept,
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel=LINK["rel"],
        set_tag_attribute_values={"a": {"target": LINK["target"]}},
    )


def _kept(_tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value.replace("<", "%3C").replace(">", "%3E")
    return value if name in LINK or re.fullmatch(r"[A-Za-z0-9-]{1,20}", value) else None


@lru_cache(maxsize=256)
def guidelines_as_html(text: str, *, top: int = 2) -> Markup:
    """Guidelines in Markdown as safe HTML, their first level of headings at level `top` of the page.

    HTML inside them is shown as text, and pictures as their links: a judge's browser asks no other server.

    Examples:
        >>> guidelines_as_html("# Rules\\n<b>Read</b> *all*.")
        Markup('<h2>Rules</h2>\\n<p>&lt;b&gt;Read&lt;/b&gt; <em>all</em>.</p>\\n')
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = _is_web_address  # type: ignore[method-assign] # the parser's own way to narrow it
    tokens = parser.parse(text)
    level = top - 1
    for token in _all(tokens):
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + top - 1, level + 1, 6)  # no level is left out on the way down
            token.tag = f"h{level}"
        elif token.type == "heading_close":
            token.tag = f"h{level}"
        elif token.type == "link_open":
            token.attrs.update(LINK)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # html is switched off


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or ())
