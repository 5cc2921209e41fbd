"""Words for a shell: quoted names, patterns for many files, and names that are still free."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

MIN_GLOB_FILES = 3  # files that are named one by one


def quote_path(path: str) -> str:
    """A file's name as a shell takes it; one that begins with a hyphen would be an option.

    Examples:
        >>> quote_path("my runs/bm25.run"), quote_path("-odd.run"), quote_path("-")
        ("'my runs/bm25.run'", './-odd.run', '-')
    """
    return quote(f"./{path}" if path.startswith("-") and path != "-" else path)


def build_command(verb: str, *arguments: str) -> str:
    """A command line of ours; words are quoted already, and empty ones left out.

    Examples:
        >>> build_command("pool", "a.run", "", "--depth", "10")
        'ringtrue pool a.run --depth 10'
    """
    return " ".join(["ringtrue", verb, *(argument for argument in arguments if argument)])


def quote_paths(paths: Sequence[str]) -> str:
    """The files, by patterns such as runs/*.run where they match these files and no others."""
    paths_by_folder: dict[str, list[str]] = {}
    for path in paths:
        paths_by_folder.setdefault(path.rpartition("/")[0] if "/" in path else "", []).append(path)
    return " ".join(
        _find_glob(folder, folder_paths) or " ".join(map(quote_path, folder_paths))
        for folder, folder_paths in paths_by_folder.items()
    )


def _find_glob(folder: str, paths: Sequence[str]) -> str | None:
    if len(paths) < MIN_GLOB_FILES or "-" in paths:
        return None
    names = [path.rpartition("/")[2] for path in paths]
    directory = Path(folder or ("/" if paths[0].startswith("/") else "."))
    try:
        entries = {entry.name for entry in directory.iterdir() if not entry.name.startswith(".")}
    except OSError:
        return None
    shortest = min(map(len, names))
    prefix = _common_prefix(names)[: shortest - 1]
    suffix = _common_prefix([name[::-1] for name in names])[: shortest - len(prefix)][::-1]
    extension = "".join(Path(names[0]).suffixes[-2:]) if suffix.endswith("".join(Path(names[0]).suffixes[-2:])) else ""
    for glob_prefix, glob_suffix in (("", extension), ("", suffix), (prefix, extension), (prefix, suffix)):
        matched = {
            name
            for name in entries
            if len(name) >= len(glob_prefix) + len(glob_suffix)
            and name.startswith(glob_prefix)
            and name.endswith(glob_suffix)
        }
        if matched == set(names) and (glob_prefix or glob_suffix):
            quoted_prefix = (
                quote_path(f"{folder}/{glob_prefix}")
                if "/" in paths[0]
                else (quote_path(glob_prefix) if glob_prefix else "")
            )
            return f"{quoted_prefix}*{quote(glob_suffix) if glob_suffix else ''}"
    return None


def _common_prefix(names: Sequence[str]) -> str:
    low, high = min(names), max(names)
    return next((low[:position] for position, letter in enumerate(low) if letter != high[position]), low)


class FreeNames:
    """Names for files to write here: of no file that there is, and each given once."""

    def __init__(self) -> None:
        self._claimed: set[str] = set()

    def claim(self, name: str) -> str:
        """The name, or with a number where there is such a file here already.

        Examples:
            >>> names = FreeNames()
            >>> names.claim("a-pool.csv"), names.claim("a-pool.csv")
            ('a-pool.csv', 'a-pool-2.csv')
        """
        stem, dot, extension = name.partition(".")
        for number in range(1, 1_000):
            candidate = name if number == 1 else f"{stem}-{number}{dot}{extension}"
            if candidate not in self._claimed and not Path(candidate).exists():
                self._claimed.add(candidate)
                return candidate
        return name
