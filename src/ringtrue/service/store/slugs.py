"""Names in letters that an address can have."""

from __future__ import annotations

import re
import unicodedata

# Letters that Unicode does not take apart into a plain one and a mark.
TRANSLITERATIONS = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ß": "ss", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h", "ŋ": "n"}
)


def slugify(text: str, max_length: int) -> str:
    """A text in small letters a to z, digits and hyphens; nothing where it has none of them.

    Examples:
        >>> slugify("Smørrebrød & Größe", 60), slugify("李", 60)
        ('smorrebrod-grosse', '')
    """
    ascii_text = (
        unicodedata.normalize("NFKD", text.lower().translate(TRANSLITERATIONS)).encode("ascii", "ignore").decode()
    )
    return re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:max_length].rstrip("-")
