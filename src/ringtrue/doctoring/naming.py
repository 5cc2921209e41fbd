"""What the names that people give to files, judges and columns say about whose labels they are."""

from __future__ import annotations

import re

__all__ = ["is_cheap", "is_trap", "is_trusted"]

TRUSTED = ("gold", "human", "nist", "truth", "expert", "trusted", "official", "adjudicated", "reference")
CHEAP = (
    "bronze", "silver", "llm", "gpt", "llama", "model", "claude", "gemini", "qwen", "mistral", "crowd", "turk", "cheap",
    "umbrela", "synthetic", "auto",
)  # fmt: skip
TRAPS = ("trap", "honeypot")


def is_trusted(name: str) -> bool:
    """Whether a name says that these are the labels to be trusted.

    Examples:
        >>> is_trusted("nist-2019.qrels"), is_trusted("golden_retriever_llm.qrels"), is_trusted("labels.csv")
        (True, False, False)
    """
    return _has(name, TRUSTED) and not is_cheap(name)


def is_cheap(name: str) -> bool:
    """Whether a name says that these are a cheap judge's labels.

    Examples:
        >>> is_cheap("llm-umbrela_gpt4.qrels"), is_cheap("human.qrels")
        (True, False)
    """
    return _has(name, CHEAP)


def is_trap(name: str) -> bool:
    """Whether a name says that these are questions with a known answer.

    Examples:
        >>> is_trap("traps.csv"), is_trap("strap.csv")
        (True, False)
    """
    return _has(name, TRAPS)


def _has(name: str, words: tuple[str, ...]) -> bool:
    """Whether a word begins one of the parts of a name."""
    parts = re.split(r"[^a-z]+", name.lower())
    return any(part.startswith(word) for part in parts for word in words)
