"""What a page shows: its codes and elements, which tests assert, and its words, which golden files hold."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import httpx

BLOCKS = {
    "address", "article", "aside", "blockquote", "button", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "footer", "form", "h1", "h2", "h3", "h4", "header", "hr", "legend", "li", "main", "nav", "ol", "option",
    "p", "pre", "section", "select", "summary", "table", "tbody", "textarea", "thead", "title", "tr", "ul",
}  # fmt: skip
CELLS = {"td", "th"}
KEEPING_LINES = {"pre", "textarea"}
UNSEEN = {"script", "style", "template"}


def codes_on(page: httpx.Response) -> list[str]:
    """The codes of the notes and errors on a page, in their order."""
    return [code for code in re.findall(r'data-code="([^"]*)"', page.text) if code]


def code_of(answer: httpx.Response) -> str:
    """The code of a refusal: of the only note on a page, or of an error in JSON."""
    if "json" in answer.headers["content-type"]:
        return str(answer.json()["error"]["code"])
    (code,) = set(codes_on(answer))
    return code


def code_beside(page: httpx.Response, field: str) -> str:
    """The code of what is wrong with a field; empty where nothing is."""
    found = re.search(rf'id="{field}-problem" data-code="([^"]*)"', page.text)
    return found[1] if found else ""


def words_of(page: httpx.Response, code: str) -> str:
    """What the note of a code says."""
    found = re.search(rf'data-code="{code}">(.*?)</', page.text)
    return unescape(found[1]) if found else ""


def page_name(page: httpx.Response) -> str:
    """Which of a judge's pages it is."""
    found = re.search(r'<h1[^>]* data-page="([^"]*)"', page.text)
    return found[1] if found else ""


def has_element(page: httpx.Response, name: str) -> bool:
    """Whether there is an element with this id."""
    return f' id="{name}"' in page.text


def element_text(page: httpx.Response, name: str) -> str:
    """The words of the element with this id, which has no others in it."""
    found = re.search(rf'id="{name}"[^>]*>([^<]*)<', page.text)
    return unescape(found[1]) if found else ""


def link_text(page: httpx.Response, path: str) -> str:
    """The words of the first link to this address that is not among the tabs."""
    found = re.search(rf'<a[^>]*href="{re.escape(path)}"[^>]*>([^<]*)<', page.text.rpartition("</nav>")[2])
    return unescape(found[1]) if found else ""


def figures(page: httpx.Response) -> dict[str, str]:
    """The figures of a page by what they are of: `{"Judgments": "16 of 16 wanted"}`."""
    found = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page.text)
    return {visible_text(name): visible_text(value).replace("\n", " ") for name, value in found}


def table_rows(page: httpx.Response) -> list[list[str]]:
    """The cells of all tables."""
    rows = re.findall(r"<tr>(.*?)</tr>", page.text, re.DOTALL)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows)
    return [[visible_text(cell).replace("\n", " ") for cell in row] for row in cells]


def notices(page: httpx.Response) -> list[str]:
    """What the last form had to say."""
    found = re.search(r'<div class="notice" role="status">(.*?)</div>', page.text, re.DOTALL)
    return visible_text(found[1]).splitlines() if found else []


def numbers(text: str) -> list[int]:
    """The numbers in a sentence."""
    return [int(number) for number in re.findall(r"\d+", text)]


def visible_text(html: str) -> str:
    """What people read of a page, a line for each block; fields as [what is in them], boxes as [x] or [ ]."""
    reader = _Reader()
    reader.feed(html)
    lines = (" ".join(line.split()) for line in "".join(reader.parts).splitlines())
    return "\n".join(line.strip("| ") for line in lines if line.strip("| "))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._unseen = self._kept = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._kept += tag in KEEPING_LINES
        if tag in UNSEEN:
            self._unseen += 1
        elif tag == "input":
            self.parts.append(_field(given))
        elif tag in BLOCKS:
            self.parts.append("\n")
        elif tag in CELLS:
            self.parts.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        self._kept -= tag in KEEPING_LINES
        if tag in UNSEEN:
            self._unseen -= 1
        elif tag in BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data if self._kept else data.replace("\n", " "))


def _field(given: dict[str, str | None]) -> str:
    kind = given.get("type") or "text"
    if kind == "hidden":
        return ""
    if kind in ("checkbox", "radio"):
        return "[x] " if "checked" in given else "[ ] "
    return f"[{given.get('value') or ''}] "


# What each run draws by lot: secrets, ids of requests, which document comes first, the widths of a drawn sample.
DRAWN = (
    (re.compile(r"\b(welcome|join)/[\w-]{40,}"), r"\1/SECRET"),
    (re.compile(r"(?<=\[)[\w-]{40,}(?=\])"), "SECRET"),
    (re.compile(r"(?<=request: )\w{16}"), "ID"),
    (re.compile(r"\b(Title|Text)( of)? \w\b"), r"\1\2 N"),
    (re.compile(r"\bdoc-[ab]\b"), "doc-N"),
    (re.compile(r"±\d\.\d+"), "±N"),
)


def words_on(page: httpx.Response) -> str:
    """What people read of a page, the same in each run."""
    text = visible_text(page.text)
    for pattern, replacement in DRAWN:
        text = pattern.sub(replacement, text)
    return text
