"""What MkDocs calls while it builds the site: anchors, tables that scroll, an index that loads from disk."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

SESSION = re.compile(r"^( *```)python(?=\n *>>> )", re.M)
TYPED = re.compile(r'<span class="gp">\$ ?</span>[^\n]*')
SHORT = re.compile(r"<code>(?=[^<\n]{1,40}</code>)")
EMPTY = re.compile(r"<th[^>]*></th>")
TABLE = re.compile(r"<table>.*?</table>", re.S)


def on_config(config: Any) -> Any:
    """Make anchors of headings as hosts of repositories do, so that a link holds on the site and there."""
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    return config


def slug(title: str, separator: str) -> str:
    """The anchor of a heading.

    >>> slug("What is `a − b`, in short?", "-")
    'what-is-a--b-in-short'
    """
    return re.sub(r"\s", separator, re.sub(r"[^\w\s-]", "", title.lower()))


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Colour Python sessions as what they are: prompts, what is typed, what is printed."""
    return SESSION.sub(r"\1pycon", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Let a wide table scroll by itself, a long command break and a short name not; a head without words is none."""
    html = SHORT.sub('<code class="short">', html)
    tables = EMPTY.sub("<td></td>", TABLE.sub(r'<div class="scroll">\g<0></div>', html))
    return TYPED.sub(r'<span class="typed">\g<0></span>', tables)


def on_post_build(config: Any) -> None:
    """Write the search index as a script: pages opened from a disk may not fetch, but may load scripts."""
    made = Path(config["site_dir"]) / "search/search_index.json"
    places = json.loads(made.read_text(encoding="utf-8"))["docs"]
    found: list[dict[str, str]] = []
    page = ""
    for place, before in zip(places[1:], places, strict=False):
        if "#" not in before["location"]:
            page = place["title"]  # that of its first heading; the entry before it repeats the whole page
        if "#" in place["location"]:
            found.append(place | {"page": page})
    script = f"window.ringtruePages = {json.dumps(found, ensure_ascii=False, separators=(',', ':'))};\n"
    made.with_name("index.js").write_text(script, encoding="utf-8")
    made.unlink()
