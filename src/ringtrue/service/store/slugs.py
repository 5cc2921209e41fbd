"""Names in letters that an address can have."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["in_plain_letters"]

# Letters that Unicode does not take apart into a plain one and a mark.
SPELLED = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ß": "ss", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h", "ŋ": "n"}
)


def in_plain_letters(text: str, longest: int) -> str:
    """A text in small letters a to z, digits and hyphens; nothing where it has none of them.

    Examples:
        >>> in_plain_letters("Smørrebrød & Größe", 60), in_plain_letters("李", 60)
        ('smorrebrod-grosse', '')
    """
    plain = unicodedata.normalize("NFKD", text.lower().translate(SPELLED)).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:longest].rstrip("-")
