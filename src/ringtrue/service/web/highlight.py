"""The words of a query, found in a text and marked, without a change to any other character."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["MOST_MARKS", "marked", "query_words"]

MOST_MARKS = 1000  # in one document
OPEN, CLOSE = "\x01", "\x02"  # stand for the tags while a text is escaped; no page may hold these characters

# Words that stand in nearly every English text: marking them would hide the others.
COMMON = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "has", "have",
        "how", "i", "if", "in", "is", "it", "its", "of", "on", "or", "s", "t", "that", "the", "their", "there", "these",
        "they", "this", "to", "was", "were", "what", "when", "where", "which", "who", "why", "will", "with", "you",
        "your",
    )
)  # fmt: skip
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


@lru_cache(maxsize=1024)
def query_words(query: str) -> tuple[re.Pattern[str], ...]:
    """What to look for in a text in small letters: whole words, or characters in scripts that have no spaces.

    Examples:
        >>> [pattern.search("a cat, no catalogue") is not None for pattern in query_words("The Cat")]
        [True]
    """
    words: dict[str, None] = {}
    for run in re.split(r"\s+", query.lower()):
        for word in _words(run):
            words[word] = None
    chosen = [word for word in words if word not in COMMON] or list(words)
    forms = dict.fromkeys(unicodedata.normalize(form, word) for word in chosen for form in ("NFC", "NFD"))
    return tuple(re.compile(_whole(word)) for word in forms)


def _words(run: str) -> Iterator[str]:
    """Letters, digits and the marks upon them; what stands between is left out."""
    word = ""
    for letter in run:
        if unicodedata.category(letter)[0] in "LNM" or letter == "_":
            word += letter
        elif word:
            yield word
            word = ""
    if word:
        yield word


def _whole(word: str) -> str:
    exact = re.escape(word)
    if UNSPACED.search(word):
        return exact
    return rf"{exact}(?!\w)(?<!\w{exact})"  # the word first: a search for fixed letters is many times faster


def marked(text: str, words: Sequence[re.Pattern[str]], *, most: int = MOST_MARKS) -> Markup:
    """A text, escaped, with the words found in it inside <mark>.

    Examples:
        >>> marked("Cats & <b>cat</b>", query_words("cat"))
        Markup('Cats &amp; &lt;b&gt;<mark>cat</mark>&lt;/b&gt;')
    """
    if OPEN in text or CLOSE in text:
        text = text.replace(OPEN, "").replace(CLOSE, "")
    found = _found(text, words, most) if words else []
    if not found:
        return escape(text)
    out: list[str] = []
    done = 0
    for start, end in found:
        out += (text[done:start], OPEN, text[start:end], CLOSE)
        done = end
    out.append(text[done:])
    safe = str(escape("".join(out)))
    return Markup(safe.replace(OPEN, "<mark>").replace(CLOSE, "</mark>"))


def _found(text: str, words: Sequence[re.Pattern[str]], most: int) -> list[tuple[int, int]]:
    """Where the words stand, in the order of the text and without overlap."""
    small = _lowered(text)
    spans: list[tuple[int, int]] = []
    for word in words:
        count = 0
        for match in word.finditer(small):
            start, end = match.span()
            if _is_mark(small, end) or (start and _is_mark(small, start - 1)):
                continue  # an accent that is a character of its own belongs to its letter
            spans.append((start, end))
            count += 1
            if count == most:
                break
    spans.sort()
    kept: list[tuple[int, int]] = []
    for span in spans:
        if len(kept) == most:
            break
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _lowered(text: str) -> str:
    """In small letters, each at the place where it stood."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _is_mark(text: str, at: int) -> bool:
    return at < len(text) and text[at] > "\u02ff" and unicodedata.category(text[at])[0] == "M"
