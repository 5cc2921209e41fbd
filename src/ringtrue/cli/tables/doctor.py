"""What `ringtrue doctor` shows: files, how they overlap, doubts, commands, and what is missing for others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from ringtrue.cli.output import Grid
from ringtrue.doctor import Checkup, File, Overlap
from ringtrue.formatting.phrases import counted, first_few

__all__ = ["as_grids", "as_text"]

WIDTH = 80
HARD = "\N{NO-BREAK SPACE}"  # until the lines are broken
INDENT = "  "
LONGEST_NAME = 28
MOST_RUNS = 12  # rows of a table of runs
MOST_JUDGES = 3  # its columns
MOST_SHARES = 6
KINDS = {
    "run": "run", "judgments": "judgments", "gold": "gold sample", "sample": "sample to judge",
    "preferences": "preferences", "pairs": "pairs to judge", "pool": "pool", "topics": "topics",
    "documents": "documents", "confusion": "confusion matrix", "gains": "gains", "scores": "scores", None: "?",
}  # fmt: skip
ROLES = {"traps": "traps", "crowd": "labels"}
SECTIONS = {
    "About the runs": ("report", "evaluate", "compare", "stability", "curve", "ceiling"),
    "About the judges": ("agree", "judges", "aggregate", "disagreement"),
    "About preferences": ("rate",),
    "What to judge next": ("sample", "plan", "pool", "pairs", "serve"),
}


def as_text(found: Checkup) -> str:
    """The whole answer for a terminal, 80 columns wide."""
    short = _short_names(found.files)
    if not found.recognised:
        return f"{_files(found, short)}\n\nNone of these files can be used. `ringtrue demo` makes some that can."
    parts = [_files(found, short), _judged(found, short), _doubts(found, short), _possible(found, short),
             _missing(found, short)]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def as_grids(found: Checkup) -> list[Grid]:
    """The same as tables, for CSV, Markdown and LaTeX."""
    files = [
        [file.path, _kind(file), _told(file, {}).replace(HARD, " "), "; ".join(file.notes)] for file in found.files
    ]
    can = [[one.question, one.command, one.why] for one in found.can]
    cannot = [[one.question, one.needs or one.why, one.todo] for one in found.cannot]
    grids = [
        Grid(columns=["file", "kind", "counts", "notes"], rows=files, left=4),
        Grid(columns=["question", "command", "why"], rows=can, left=3),
        Grid(columns=["question", "needs", "todo"], rows=cannot, left=3),
    ]
    return [grid for grid in grids if grid.rows]


def _heading(text: str) -> str:
    return click.style(text, bold=True)


def _short_names(files: Sequence[File]) -> dict[str, str]:
    """A file's name without its folder, where no other file has it."""
    names = [Path(file.path).name for file in files]
    return {file.path: name if names.count(name) == 1 and name else file.path
            for file, name in zip(files, names, strict=True)}  # fmt: skip


def _kind(file: File) -> str:
    return (
        ROLES.get(file.role or "", KINDS[file.kind]) if file.kind in ("judgments", "preferences") else KINDS[file.kind]
    )


def _files(found: Checkup, short: Mapping[str, str]) -> str:
    """A line for each file, and one for many runs."""
    runs = [file for file in found.files if file.kind == "run" and file.error is None]
    rows = [(_cut(short[file.path]), _kind(file), _told(file, short)) for file in sorted(found.files, key=_place)
            if file not in runs or len(runs) <= MOST_RUNS]  # fmt: skip
    if len(runs) > MOST_RUNS:
        together = {"queries": [file.counts["queries"] for file in runs],
                    "fewest": min(file.counts["fewest"] for file in runs),
                    "most": max(file.counts["most"] for file in runs)}  # fmt: skip
        rows = [(f"{len(runs)} runs", "run", _run_counts(together)), *rows]
    names, kinds = (max(len(row[place]) for row in rows) for place in (0, 1))
    before = " " * (names + kinds + 4)
    lines = []
    for name, kind, told in rows:
        first, *others = wrap(told, WIDTH - len(before), break_on_hyphens=False) or [""]
        lines.append(f"{name:{names}}  {kind:{kinds}}  {first}".rstrip())
        lines += [before + line for line in others]
    return "\n".join(lines).replace(HARD, " ")


def _told(file: File, short: Mapping[str, str]) -> str:
    return _counts(file) if file.error is None else f"cannot be used: {_shortened(file.error, short)}"


def _place(file: File) -> tuple[bool, int]:
    """Runs and judgments first, what cannot be used last."""
    return file.error is not None, list(KINDS).index(file.kind)


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:14]}…{name[-13:]}"


def _counts(file: File) -> str:
    """The numbers about a file, in words."""
    counts, kind = file.counts, file.kind
    if kind == "run":
        return _run_counts({**counts, "queries": [counts["queries"]]})
    if kind in ("judgments", "gold"):
        return _label_counts(counts)
    if kind == "preferences":
        by = f" by {counted(counts['judges'], 'judge')}" if counts["judges"] > 1 else ""
        ties = f"; {_percent(counts['ties'])} ties" if counts["ties"] else ""
        traps = f", {counted(counts['traps'], 'vote')} on traps" if counts.get("traps") else ""
        return (f"{counted(counts['votes'], 'vote')}{by} on {counted(counts['pairs'], 'pair')}, "
                f"{counted(counts['queries'], 'query')}{ties}{traps}")  # fmt: skip
    if kind == "confusion":
        labels = ", ".join(map(str, counts["labels"]))
        return f"the labels {labels} of {counts['columns']}, given those of {counts['rows']}"
    if kind == "gains":
        return ", ".join(f"label {label} is worth {gain:g}" for label, gain in counts["gains"].items())
    if kind == "scores":
        return (f"{counted(counts['queries'], 'query')}, {counted(counts['runs'], 'run')}, "
                f"{counted(counts['measures'], 'measure')}: for other programs, no command reads it")  # fmt: skip
    words = {"documents": "document", "pairs": "pair", "queries": "query"}
    told = ", ".join(counted(counts[name], word) for name, word in words.items() if name in counts)
    return told + (f"; {counts['labelled']:,} have a label" if "labelled" in counts else "")


def _run_counts(counts: Mapping[str, Any]) -> str:
    fewest, most = min(counts["queries"]), max(counts["queries"])
    queries = counted(most, "query") if fewest == most else f"{fewest:,} to {most:,} queries"
    few, many = counts["fewest"], counts["most"]
    depth = f"{many:,}" if few == many else f"{few:,} to {many:,}"
    return f"{queries}, {depth} document{'s' * (many != 1)} each"


def _label_counts(counts: Mapping[str, Any]) -> str:
    by = f"by {counted(counts['judges'], 'judge')}" if counts["judges"] > 1 else f"by '{counts['judge']}'"
    if counts["judges"] == 1 and counts["judge"] in ("0", "Q0"):
        by = ""
    told = f"{counted(counts['labels'], 'label')} {by}".strip()
    several = f" of {counted(counts['documents'], 'document')}" if counts["documents"] < counts["labels"] else ""
    design = f"; drawn as {counts['design']}" if "design" in counts else ""
    shares = [f"{label}:{HARD}{_percent(share)}" for label, share in counts["shares"].items()]
    more = [*shares[:MOST_SHARES], "…"] if len(shares) > MOST_SHARES else shares
    queries = f", {counted(counts['queries'], 'query')}" if "queries" in counts else ""
    return f"{told}{several}{queries}; {', '.join(more)}{design}"


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def _judged(found: Checkup, short: Mapping[str, str]) -> str:
    """How many of the first ten documents each file of judgments knows, for each run or, of many, for all."""
    gold = {file.path for file in found.files if file.kind == "gold" or file.role == "traps"}
    overlaps = [one for one in found.overlaps if one.judgments not in gold]
    judges = list(dict.fromkeys(one.judgments for one in overlaps))[:MOST_JUDGES]
    runs = list(dict.fromkeys(one.run for one in overlaps))
    if not runs or not judges:
        return ""
    both = {(one.run, one.judgments): one for one in overlaps}
    rows = [[_cut(short[run]), *(_share(both[run, judge]) for judge in judges)] for run in runs]
    if len(runs) > MOST_RUNS:
        rows = [[f"{len(runs)} runs", *(_between([both[run, judge] for run in runs]) for judge in judges)]]
    columns = ["", *(_cut(short[judge]) for judge in judges)]
    widths = [max(len(row[place]) for row in [columns, *rows]) for place in range(len(columns))]
    lines = [_heading("How much of each run's top 10 is judged")]
    for row in [columns, *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append(INDENT + "  ".join(cells).rstrip())
    if more := len({one.judgments for one in overlaps}) - len(judges):
        lines.append(f"{INDENT}(and by {counted(more, 'file')} more: --json)")
    return "\n".join(lines)


def _share(one: Overlap) -> str:
    if one.share is None:
        return "no query"
    return "100%" if one.judged == one.top else f"{_below(one.share)}, {one.top - one.judged:,} not"


def _between(some: Sequence[Overlap]) -> str:
    known = [one.share for one in some if one.share is not None]
    if not known:
        return "no query"
    low, high = _below(min(known)), _below(max(known))
    return low if low == high else f"{low} to {high}"


def _below(share: float) -> str:
    return f"{share:.1%}" if 0.99 < share < 1 else f"{share:.0%}"


def _doubts(found: Checkup, short: Mapping[str, str]) -> str:
    """Every doubt, that of several files told once."""
    files: dict[str, list[str]] = {}
    for file in found.files:
        for note in file.notes:
            files.setdefault(_shortened(note, short), []).append(_cut(short[file.path]))
    if not files:
        return ""
    lines = [_heading("Worth a look")]
    for note, names in files.items():
        lines += _wrapped(f"{first_few(names)}: {note}", INDENT, 2 * INDENT)
    return "\n".join(lines)


def _possible(found: Checkup, short: Mapping[str, str]) -> str:
    parts = []
    for heading, verbs in SECTIONS.items():
        lines = []
        for one in found.can:
            if one.verb.split()[0] not in verbs:
                continue
            lines.append(f"{INDENT}{one.question}")
            lines += _folded(one.command)
            lines += _aside(_shortened(one.why, short))
        if lines:
            parts.append("\n".join([_heading(heading), *lines]))
    return "\n\n".join(parts)


def _folded(command: str) -> list[str]:
    """A command in lines that a shell joins again."""
    words = re.findall(r"(?:'[^']*'|\"[^\"]*\"|\\.|\S)+", command)
    lines, line = [], 2 * INDENT
    for place, word in enumerate(_with_values(words)):
        if place and len(line) + len(word) + 3 > WIDTH:
            lines.append(f"{line} \\")
            line = 4 * INDENT + word
        else:
            line += word if not place else f" {word}"
    return [click.style(one, fg="cyan") for one in [*lines, line]]


def _with_values(words: Iterable[str]) -> list[str]:
    """Options together with their values, so that no line breaks between the two."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1].startswith("-") and " " not in joined[-1] and not word.startswith("-"):
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return joined


def _aside(text: str) -> list[str]:
    return [click.style(line, dim=True) for line in _wrapped(text, 2 * INDENT + "# ")]


def _missing(found: Checkup, short: Mapping[str, str]) -> str:
    """What is missing for other commands; those that lack the same together."""
    if not found.cannot:
        return ""
    verbs: dict[str, list[str]] = {}
    for one in found.cannot:
        reason = f"needs {one.needs}" if one.needs else f"cannot: {one.why}"
        verbs.setdefault(f"{reason}. {one.todo[:1].upper()}{one.todo[1:]}.", []).append(one.verb)
    lines = [_heading("Not with these files")]
    for told, some in verbs.items():
        lines += _wrapped(", ".join(some), INDENT)
        lines += _wrapped(_shortened(told, short), 2 * INDENT)
    return "\n".join(lines)


def _wrapped(text: str, indent: str, further: str | None = None) -> list[str]:
    """A text in lines of 80 characters; names of files stay whole."""
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent if further is None else further,
                break_on_hyphens=False, break_long_words=False)  # fmt: skip


def _shortened(text: str, short: Mapping[str, str]) -> str:
    """A text with the short names of files; inside of a command they stay as they are."""
    parts = text.split("`")
    for path, name in sorted(short.items(), key=lambda item: -len(item[0])):
        parts[::2] = [part.replace(path, name) for part in parts[::2]]
    return "`".join(parts)
