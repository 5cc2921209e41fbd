"""Calls as somebody pastes them into a shell: names are quoted, and many files become a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ringtrue.cli.spelling import CommandLine, find_option, load_command

if TYPE_CHECKING:
    from ringtrue.messages import Argument, Call, Spelling

MIN_GLOB_FILES = 3  # files that are named one by one


class ShellSpelling:
    """How the command line writes what `doctor` suggests."""

    def call(self, call: Call) -> str:
        """`ringtrue agree llm.qrels --gold human.qrels`."""
        command = load_command(call.command)
        words = ["ringtrue", call.command, *([quote_paths(call.files)] if call.files else [])]
        for name, value in call.arguments.items():
            option = find_option(command, name)
            assert option is not None, f"{call.command} has no option for {name}"
            words += [option.opts[0], quote_path(_value_text(value))]
        return " ".join(words)

    def arguments_of(self, command: str | None) -> Spelling:
        """The options of a command; those of `evaluate` are about reading files too."""
        return CommandLine(load_command(command or "evaluate"))


def _value_text(value: Argument) -> str:
    return ",".join(f"{name}={part}" for name, part in value.items()) if isinstance(value, Mapping) else f"{value}"


def quote_path(path: str) -> str:
    """A file's name as a shell takes it; one that begins with a hyphen would be an option.

    Examples:
        >>> quote_path("my runs/bm25.run"), quote_path("-odd.run"), quote_path("-")
        ("'my runs/bm25.run'", './-odd.run', '-')
    """
    return quote(f"./{path}" if path.startswith("-") and path != "-" else path)


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
    extension = "".join(Path(names[0]).suffixes[-2:])
    extension = extension if suffix.endswith(extension) else ""
    for glob_prefix, glob_suffix in (("", extension), ("", suffix), (prefix, extension), (prefix, suffix)):
        matched = {
            name
            for name in entries
            if len(name) >= len(glob_prefix) + len(glob_suffix)
            and name.startswith(glob_prefix)
            and name.endswith(glob_suffix)
        }
        if matched == set(names) and (glob_prefix or glob_suffix):
            start = f"{folder}/{glob_prefix}" if "/" in paths[0] else glob_prefix
            return f"{quote_path(start) if start else ''}*{quote(glob_suffix) if glob_suffix else ''}"
    return None


def _common_prefix(names: Sequence[str]) -> str:
    low, high = min(names), max(names)
    return next((low[:position] for position, letter in enumerate(low) if letter != high[position]), low)
