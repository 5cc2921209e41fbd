"""Words for a shell: quoted names, patterns for many files, and names that are still free."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

__all__ = ["Names", "command", "named", "pattern"]

FEW = 3  # files that are named one by one


def named(path: str) -> str:
    """A file's name as a shell takes it; one that begins with a hyphen would be an option.

    Examples:
        >>> named("my runs/bm25.run"), named("-odd.run"), named("-")
        ("'my runs/bm25.run'", './-odd.run', '-')
    """
    return quote(f"./{path}" if path.startswith("-") and path != "-" else path)


def command(verb: str, *words: str) -> str:
    """A command line of ours; words are quoted already, and empty ones left out.

    Examples:
        >>> command("pool", "a.run", "", "--depth", "10")
        'ringtrue pool a.run --depth 10'
    """
    return " ".join(["ringtrue", verb, *(word for word in words if word)])


def pattern(paths: Sequence[str]) -> str:
    """The files, by patterns such as runs/*.run where they match these files and no others."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0] if "/" in path else "", []).append(path)
    return " ".join(_matched(folder, some) or " ".join(map(named, some)) for folder, some in folders.items())


def _matched(folder: str, paths: Sequence[str]) -> str | None:
    if len(paths) < FEW or "-" in paths:
        return None
    names = [path.rpartition("/")[2] for path in paths]
    place = Path(folder or ("/" if paths[0].startswith("/") else "."))
    try:
        there = {entry.name for entry in place.iterdir() if not entry.name.startswith(".")}
    except OSError:
        return None
    shortest = min(map(len, names))
    start = _same_start(names)[: shortest - 1]
    end = _same_start([name[::-1] for name in names])[: shortest - len(start)][::-1]
    extension = "".join(Path(names[0]).suffixes[-2:]) if end.endswith("".join(Path(names[0]).suffixes[-2:])) else ""
    for first, last in (("", extension), ("", end), (start, extension), (start, end)):
        matched = {name for name in there if len(name) >= len(first) + len(last)
                   and name.startswith(first) and name.endswith(last)}  # fmt: skip
        if matched == set(names) and (first or last):
            before = named(f"{folder}/{first}") if "/" in paths[0] else (named(first) if first else "")
            return f"{before}*{quote(last) if last else ''}"
    return None


def _same_start(names: Sequence[str]) -> str:
    low, high = min(names), max(names)
    return next((low[:place] for place, letter in enumerate(low) if letter != high[place]), low)


class Names:
    """Names for files to write here: of no file that there is, and each given once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def free(self, name: str) -> str:
        """The name, or with a number where there is such a file here already.

        Examples:
            >>> names = Names()
            >>> names.free("a-pool.csv"), names.free("a-pool.csv")
            ('a-pool.csv', 'a-pool-2.csv')
        """
        stem, dot, ending = name.partition(".")
        for number in range(1, 1_000):
            found = name if number == 1 else f"{stem}-{number}{dot}{ending}"
            if found not in self._given and not Path(found).exists():
                self._given.add(found)
                return found
        return name
