"""The words of a query, found in a text and marked, without a change to any other character."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
