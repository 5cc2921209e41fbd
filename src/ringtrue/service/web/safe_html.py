"""How documents, queries and guidelines are shown: as safe HTML, with the words of the query marked.

What comes from a document is escaped, or sanitised where the project says that its documents are HTML. Marks stand only
where a word of the query was found, so that a document of some megabytes is still a few pieces of text for the browser.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import nh3
from markupsafe import Markup, escape

from ringtrue.messages import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from ringtrue.service.store.records import ShownDocument

PIECE_LENGTH = 20_000  # characters: a browser lays out only the pieces in view
MAX_PIECE_LENGTH = 5 * PIECE_LENGTH
LINK_ATTRIBUTES = {"target": "_blank", "rel": "noopener noreferrer nofollow"}

ALLOWED_TAGS = {
    "a", "abbr", "article", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "div", "dl", "dt", "em",
    "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li", "ol", "p", "pre", "q",
    "s", "samp", "section", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
    "tr", "u", "ul", "var",
}  # fmt: skip
# A tag's attributes hold no angle bracket (see `_filter_attribute`), so that tags and text are told apart without
# parsing again.
TAG = re.compile(r"(<[^>]*>)")
HEADING = re.compile(r"<(/?)h[1-6]\b")
MAX_MARKS = 1000  # in one document
MARK_START, MARK_END = "\x01", "\x02"  # stand for the tags while a text is escaped; no page may hold these characters

# Words that stand in nearly every English text: marking them would hide the others.
STOP_WORDS = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "has", "have",
        "how", "i", "if", "in", "is", "it", "its", "of", "on", "or", "s", "t", "that", "the", "their", "there", "these",
        "they", "this", "to", "was", "were", "what", "when", "where", "which", "who", "why", "will", "with", "you",
        "your",
    )
)  # fmt: skip
UNSPACED_SCRIPTS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document as the page shows it. `name` is there only when nothing else is, and `note` says what is missing."""

    title: Markup | None
    url: str | None
    link: bool
    snippet: Markup | None
    pieces: tuple[Markup, ...]
    html: bool
    name: str | None
    note: Note | None


def make_document_view(document: ShownDocument, patterns: Sequence[re.Pattern[str]], *, html: bool) -> DocumentView:
    """Make a document ready for the page.

    Examples:
        >>> from ringtrue.service.store.records import ShownDocument
        >>> plain = ShownDocument(name="d1", title="One", url="javascript:x", snippet=None, text="<script>a cat")
        >>> shown = make_document_view(plain, compile_query_patterns("cat"), html=False)
        >>> shown.pieces[0], shown.link, shown.name
        (Markup('&lt;script&gt;a <mark>cat</mark>'), False, None)
    """
    title, url, snippet, text = (
        _none_if_blank(field) for field in (document.title, document.url, document.snippet, document.text)
    )
    if snippet is not None and text is not None and snippet.strip() in text:
        snippet = None
    is_html = html and text is not None and "<" in text
    is_empty = title is None and url is None and snippet is None and text is None
    if text is None and snippet is None:
        note = (
            Note("empty-document", "this document has no text")
            if is_empty
            else Note("document-without-text", "this document has no text here: judge by what is shown")
        )
    else:
        note = None
    pieces: tuple[Markup, ...] = ()
    if text is not None:
        pieces = (_sanitise_and_highlight(text, patterns),) if is_html else _highlight_plain_text(text, patterns)
    return DocumentView(
        title=None if title is None else highlight_text(title, patterns),
        url=url,
        link=url is not None and _is_web_address(url),
        snippet=None if snippet is None else highlight_text(snippet, patterns),
        pieces=pieces,
        html=is_html,
        name=document.name if is_empty else None,
        note=note,
    )


def _none_if_blank(text: str | None) -> str | None:
    return text if text and not text.isspace() else None


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _highlight_plain_text(text: str, patterns: Sequence[re.Pattern[str]]) -> tuple[Markup, ...]:
    if len(text) <= PIECE_LENGTH:
        return (highlight_text(text, patterns),)
    pieces: list[Markup] = []
    marks_left = MAX_MARKS
    for piece in _split_long_text(text):
        highlighted = highlight_text(piece, patterns, limit=marks_left) if marks_left else escape(piece)
        marks_left -= highlighted.count("<mark>")
        pieces.append(highlighted)
    return tuple(pieces)


def _split_long_text(text: str) -> Iterator[str]:
    """Cut a long text where a line ends, which the border of two blocks then shows; a line without end, at a space."""
    start = 0
    while len(text) - start > PIECE_LENGTH:
        end = text.find("\n", start + PIECE_LENGTH, start + MAX_PIECE_LENGTH)
        if end < 0 and len(text) - start <= MAX_PIECE_LENGTH:
            break
        if end < 0:
            end = text.rfind(" ", start + PIECE_LENGTH, start + MAX_PIECE_LENGTH)
        gap = end >= 0
        if not gap:
            end = start + MAX_PIECE_LENGTH
        yield text[start:end]
        start = end + gap
    yield text[start:]


def _sanitise_and_highlight(text: str, patterns: Sequence[re.Pattern[str]]) -> Markup:
    clean = _make_cleaner().clean(text)
    clean = HEADING.sub(r"<\1h3", clean)  # below the document's own heading, whatever it was where it came from
    if not patterns:
        return Markup(clean)  # sanitised
    marks_left = MAX_MARKS
    parts: list[str] = []
    for piece in TAG.split(clean):
        if not piece or piece[0] == "<" or not marks_left:
            parts.append(piece)
            continue
        highlighted = highlight_text(unescape(piece), patterns, limit=marks_left)
        marks_left -= highlighted.count("<mark>")
        parts.append(highlighted)
    return Markup("".join(parts))  # sanitised, and text escaped


@lru_cache(maxsize=1)
def _make_cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=ALLOWED_TAGS,
        attributes={"a": {"href"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}, "*": {"lang", "dir"}},
        attribute_filter=_filter_attribute,
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel=LINK_ATTRIBUTES["rel"],
        set_tag_attribute_values={"a": {"target": LINK_ATTRIBUTES["target"]}},
    )


def _filter_attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value.replace("<", "%3C").replace(">", "%3E")
    return value if name in LINK_ATTRIBUTES or re.fullmatch(r"[A-Za-z0-9-]{1,20}", value) else None


@lru_cache(maxsize=1024)
def compile_query_patterns(query: str) -> tuple[re.Pattern[str], ...]:
    """What to look for in a text in small letters: whole words, or characters in scripts that have no spaces.

    Examples:
        >>> [pattern.search("a cat, no catalogue") is not None for pattern in compile_query_patterns("The Cat")]
        [True]
    """
    words: dict[str, None] = {}
    for chunk in re.split(r"\s+", query.lower()):
        for word in _split_words(chunk):
            words[word] = None
    wanted = [word for word in words if word not in STOP_WORDS] or list(words)
    forms = dict.fromkeys(unicodedata.normalize(form, word) for word in wanted for form in ("NFC", "NFD"))
    return tuple(re.compile(_whole_word_regex(word)) for word in forms)


def _split_words(chunk: str) -> Iterator[str]:
    """Letters, digits and the marks upon them; what stands between is left out."""
    word = ""
    for letter in chunk:
        if unicodedata.category(letter)[0] in "LNM" or letter == "_":
            word += letter
        elif word:
            yield word
            word = ""
    if word:
        yield word


def _whole_word_regex(word: str) -> str:
    exact = re.escape(word)
    if UNSPACED_SCRIPTS.search(word):
        return exact
    return rf"{exact}(?!\w)(?<!\w{exact})"  # the word first: a search for fixed letters is many times faster


def highlight_text(text: str, patterns: Sequence[re.Pattern[str]], *, limit: int = MAX_MARKS) -> Markup:
    """A text, escaped, with the words found in it inside <mark>.

    Examples:
        >>> highlight_text("Cats & <b>cat</b>", compile_query_patterns("cat"))
        Markup('Cats &amp; &lt;b&gt;<mark>cat</mark>&lt;/b&gt;')
    """
    if MARK_START in text or MARK_END in text:
        text = text.replace(MARK_START, "").replace(MARK_END, "")
    spans = _find_spans(text, patterns, limit) if patterns else []
    if not spans:
        return escape(text)
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += (text[position:start], MARK_START, text[start:end], MARK_END)
        position = end
    parts.append(text[position:])
    safe = str(escape("".join(parts)))
    return Markup(safe.replace(MARK_START, "<mark>").replace(MARK_END, "</mark>"))


def _find_spans(text: str, patterns: Sequence[re.Pattern[str]], limit: int) -> list[tuple[int, int]]:
    """Where the words stand, in the order of the text and without overlap."""
    lowered = _lower_keeping_length(text)
    spans: list[tuple[int, int]] = []
    for pattern in patterns:
        count = 0
        for match in pattern.finditer(lowered):
            start, end = match.span()
            if _is_combining_mark(lowered, end) or (start and _is_combining_mark(lowered, start - 1)):
                continue  # an accent that is a character of its own belongs to its letter
            spans.append((start, end))
            count += 1
            if count == limit:
                break
    spans.sort()
    disjoint: list[tuple[int, int]] = []
    for span in spans:
        if len(disjoint) == limit:
            break
        if not disjoint or span[0] >= disjoint[-1][1]:
            disjoint.append(span)
    return disjoint


def _lower_keeping_length(text: str) -> str:
    """In small letters, each at the place where it stood."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(lowered_letter if len(lowered_letter := letter.lower()) == 1 else letter for letter in text)


def _is_combining_mark(text: str, index: int) -> bool:
    return index < len(text) and text[index] > "\u02ff" and unicodedata.category(text[index])[0] == "M"


@lru_cache(maxsize=256)
def render_guidelines(text: str, *, top: int = 2) -> Markup:
    """Guidelines in Markdown as safe HTML, their first level of headings at level `top` of the page.

    HTML inside them is shown as text, and pictures as their links: a judge's browser asks no other server.

    Examples:
        >>> render_guidelines("# Rules\\n<b>Read</b> *all*.")
        Markup('<h2>Rules</h2>\\n<p>&lt;b&gt;Read&lt;/b&gt; <em>all</em>.</p>\\n')
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = _is_web_address  # type: ignore[method-assign] # the parser's own way to narrow it
    tokens = parser.parse(text)
    level = top - 1
    for token in _walk_tokens(tokens):
        if token.type == "heading_open":
            level = min(int(token.tag[1]) + top - 1, level + 1, 6)  # no level is left out on the way down
            token.tag = f"h{level}"
        elif token.type == "heading_close":
            token.tag = f"h{level}"
        elif token.type == "link_open":
            token.attrs.update(LINK_ATTRIBUTES)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # html is switched off


def _walk_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk_tokens(token.children or ())
