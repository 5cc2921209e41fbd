"""`ringtrue doctor`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.options.common import ALL_OTHERS, Command, output_options, require_one_stdin
from ringtrue.cli.output import OutputFormat, emit, progress_bar
from ringtrue.cli.shell_words import ShellSpelling
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count, join_first_few
from ringtrue.messages import Note, spell

if TYPE_CHECKING:
    from ringtrue.doctor import Checkup, FileSummary, Overlap, UnansweredQuestion

SHELL = ShellSpelling()
WIDTH = 80
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"  # until the lines are broken
INDENT = "  "
MAX_NAME_LENGTH = 28
MAX_RUNS_SHOWN = 12  # rows of a table of runs
MAX_JUDGMENT_FILES = 3  # its columns
MAX_SHARES_SHOWN = 6
KIND_NAMES = {
    "run": "run", "judgments": "judgments", "gold": "gold sample", "sample": "sample to judge",
    "preferences": "preferences", "pairs": "pairs to judge", "pool": "pool", "frame": "sampling frame",
    "topics": "topics", "documents": "documents", "confusion": "confusion matrix", "gains": "gains",
    "scores": "scores", None: "?",
}  # fmt: skip
ROLE_NAMES = {"traps": "traps", "crowd": "labels"}
SECTIONS = {
    "About the runs": ("report", "evaluate", "compare", "stability", "curve", "ceiling"),
    "About the judges": ("agree", "judges", "aggregate", "disagreement"),
    "About preferences": ("rate",),
    "What to judge next": ("sample", "plan", "pool", "pairs", "serve"),
}


@click.command("doctor", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@output_options
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], form: OutputFormat) -> None:
    """What can I do with these files?

    Tells what each file is (a run, judgments, preferences, a gold sample, topics, …), counts, how the files overlap,
    and what looks odd. Then prints the commands that can be asked of these very files, ready to be copied, and what is
    missing for the others. Nothing is written. A file that cannot be read is listed with what is wrong; the exit code
    is 1 only if none can be used.
    """
    from ringtrue.doctor import examine

    require_one_stdin(files, ALL_OTHERS)
    size = sum(Path(path).stat().st_size for path in set(files) if Path(path).is_file())
    with progress_bar(size, description="reading") as advance:
        diagnosis = examine(files, progress=advance)
    if form == "table":
        click.echo(_as_text(diagnosis), color=False if "NO_COLOR" in os.environ else None)
    else:
        emit(form, payload=diagnosis.as_dict(SHELL), grid=partial(_as_grids, diagnosis))
    if not diagnosis.recognised:
        ctx.exit(1)


def _as_text(checkup: Checkup) -> str:
    """The whole answer for a terminal, 80 columns wide."""
    short_names = _short_names(checkup.files)
    if not checkup.recognised:
        return (
            f"{_files_section(checkup, short_names)}\n\nNone of these files can be used. `ringtrue demo` "
            "makes some that can."
        )
    parts = [
        _files_section(checkup, short_names),
        _judged_section(checkup, short_names),
        _notes_section(checkup, short_names),
        _commands_section(checkup, short_names),
        _missing_section(checkup, short_names),
    ]
    return "\n\n".join(part for part in parts if part)


def _as_grids(checkup: Checkup) -> list[Grid]:
    """The same as tables, for CSV, Markdown and LaTeX."""
    file_rows = [
        [
            file.path,
            _name_kind(file),
            _describe_file(file, {}).replace(NO_BREAK_SPACE, " "),
            "; ".join(map(_spell_note, file.notes)),
        ]
        for file in checkup.files
    ]
    possible_rows = [[question.question, SHELL.call(question.call), question.why] for question in checkup.can]
    missing_rows = [
        [question.question, _spell_reason(question), question.obstacle.todo(SHELL)] for question in checkup.cannot
    ]
    grids = [
        Grid(columns=["file", "kind", "counts", "notes"], rows=file_rows, left=4),
        Grid(columns=["question", "command", "why"], rows=possible_rows, left=3),
        Grid(columns=["question", "needs", "todo"], rows=missing_rows, left=3),
    ]
    return [grid for grid in grids if grid.rows]


def _spell_note(note: Note) -> str:
    """A note on a file, with the options that commands have for it."""
    return spell(note, SHELL.arguments_of(None))


def _spell_reason(question: UnansweredQuestion) -> str:
    """Why a question cannot be asked, with the options of its command."""
    return spell(question.obstacle.reason, SHELL.arguments_of(question.command))


def _heading(text: str) -> str:
    return click.style(text, bold=True)


def _short_names(files: Sequence[FileSummary]) -> dict[str, str]:
    """A file's name without its folder, where no other file has it."""
    names = [Path(file.path).name for file in files]
    return {
        file.path: name if names.count(name) == 1 and name else file.path
        for file, name in zip(files, names, strict=True)
    }


def _name_kind(file: FileSummary) -> str:
    return (
        ROLE_NAMES.get(file.role or "", KIND_NAMES[file.kind])
        if file.kind in ("judgments", "preferences")
        else KIND_NAMES[file.kind]
    )


def _files_section(checkup: Checkup, short_names: Mapping[str, str]) -> str:
    """A line for each file, and one for many runs."""
    runs = [file for file in checkup.files if file.kind == "run" and file.error is None]
    rows = [
        (_shorten_name(short_names[file.path]), _name_kind(file), _describe_file(file, short_names))
        for file in sorted(checkup.files, key=_file_sort_key)
        if file not in runs or len(runs) <= MAX_RUNS_SHOWN
    ]
    if len(runs) > MAX_RUNS_SHOWN:
        pooled_counts = {
            "queries": [file.counts["queries"] for file in runs],
            "fewest": min(file.counts["fewest"] for file in runs),
            "most": max(file.counts["most"] for file in runs),
        }
        rows = [(f"{len(runs)} runs", "run", _describe_run_counts(pooled_counts)), *rows]
    name_width, kind_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    indent = " " * (name_width + kind_width + 4)
    lines = []
    for name, kind, description in rows:
        first_line, *more_lines = wrap(description, WIDTH - len(indent), break_on_hyphens=False) or [""]
        lines.append(f"{name:{name_width}}  {kind:{kind_width}}  {first_line}".rstrip())
        lines += [indent + line for line in more_lines]
    return "\n".join(lines).replace(NO_BREAK_SPACE, " ")


def _describe_file(file: FileSummary, short_names: Mapping[str, str]) -> str:
    return (
        _describe_counts(file)
        if file.error is None
        else f"cannot be used: {_use_short_names(_spell_note(file.error), short_names)}"
    )


def _file_sort_key(file: FileSummary) -> tuple[bool, int]:
    """Runs and judgments first, what cannot be used last."""
    return file.error is not None, list(KIND_NAMES).index(file.kind)


def _shorten_name(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[:14]}…{name[-13:]}"


def _describe_counts(file: FileSummary) -> str:
    """The numbers about a file, in words."""
    counts, kind = file.counts, file.kind
    if kind == "run":
        return _describe_run_counts({**counts, "queries": [counts["queries"]]})
    if kind in ("judgments", "gold"):
        return _describe_label_counts(counts)
    if kind == "preferences":
        judges_text = f" by {format_count(counts['judges'], 'judge')}" if counts["judges"] > 1 else ""
        ties_text = f"; {_label_share_text(counts['ties'])} ties" if counts["ties"] else ""
        traps_text = f", {format_count(counts['traps'], 'vote')} on traps" if counts.get("traps") else ""
        return (
            f"{format_count(counts['votes'], 'vote')}{judges_text} on {format_count(counts['pairs'], 'pair')}, "
            f"{format_count(counts['queries'], 'query')}{ties_text}{traps_text}"
        )
    if kind == "confusion":
        labels = ", ".join(map(str, counts["labels"]))
        return f"the labels {labels} of {counts['columns']}, given those of {counts['rows']}"
    if kind == "gains":
        return ", ".join(f"label {label} is worth {gain:g}" for label, gain in counts["gains"].items())
    if kind == "scores":
        return (
            f"{format_count(counts['queries'], 'query')}, {format_count(counts['runs'], 'run')}, "
            f"{format_count(counts['measures'], 'measure')}: for other programs, no command reads it"
        )
    unit_by_count = {"documents": "document", "pairs": "pair", "queries": "query"}
    counts_text = ", ".join(format_count(counts[name], unit) for name, unit in unit_by_count.items() if name in counts)
    return counts_text + (f"; {counts['labelled']:,} have a label" if "labelled" in counts else "")


def _describe_run_counts(counts: Mapping[str, Any]) -> str:
    fewest, most = min(counts["queries"]), max(counts["queries"])
    queries_text = format_count(most, "query") if fewest == most else f"{fewest:,} to {most:,} queries"
    shortest, longest = counts["fewest"], counts["most"]
    depth = f"{longest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"
    return f"{queries_text}, {depth} document{'s' * (longest != 1)} each"


def _describe_label_counts(counts: Mapping[str, Any]) -> str:
    judges_text = f"by {format_count(counts['judges'], 'judge')}" if counts["judges"] > 1 else f"by '{counts['judge']}'"
    if counts["judges"] == 1 and counts["judge"] in ("0", "Q0"):
        judges_text = ""
    labels_text = f"{format_count(counts['labels'], 'label')} {judges_text}".strip()
    documents_text = (
        f" of {format_count(counts['documents'], 'document')}" if counts["documents"] < counts["labels"] else ""
    )
    design_text = f"; drawn as {counts['design']}" if "design" in counts else ""
    shares = [f"{label}:{NO_BREAK_SPACE}{_label_share_text(share)}" for label, share in counts["shares"].items()]
    shown_shares = [*shares[:MAX_SHARES_SHOWN], "…"] if len(shares) > MAX_SHARES_SHOWN else shares
    queries_text = f", {format_count(counts['queries'], 'query')}" if "queries" in counts else ""
    return f"{labels_text}{documents_text}{queries_text}; {', '.join(shown_shares)}{design_text}"


def _label_share_text(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def _judged_section(checkup: Checkup, short_names: Mapping[str, str]) -> str:
    """How many of the first ten documents each file of judgments knows, for each run or, of many, for all."""
    skipped_files = {file.path for file in checkup.files if file.kind == "gold" or file.role == "traps"}
    overlaps = [overlap for overlap in checkup.overlaps if overlap.judgments not in skipped_files]
    judgment_files = list(dict.fromkeys(overlap.judgments for overlap in overlaps))[:MAX_JUDGMENT_FILES]
    runs = list(dict.fromkeys(overlap.run for overlap in overlaps))
    if not runs or not judgment_files:
        return ""
    overlap_of = {(overlap.run, overlap.judgments): overlap for overlap in overlaps}
    rows = [
        [
            _shorten_name(short_names[run]),
            *(_overlap_cell(overlap_of[run, judgment_file]) for judgment_file in judgment_files),
        ]
        for run in runs
    ]
    if len(runs) > MAX_RUNS_SHOWN:
        rows = [
            [
                f"{len(runs)} runs",
                *(
                    _overlap_range_cell([overlap_of[run, judgment_file] for run in runs])
                    for judgment_file in judgment_files
                ),
            ]
        ]
    columns = ["", *(_shorten_name(short_names[judgment_file]) for judgment_file in judgment_files)]
    widths = [max(len(row[column]) for row in [columns, *rows]) for column in range(len(columns))]
    lines = [_heading("How much of each run's top 10 is judged")]
    for row in [columns, *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append(INDENT + "  ".join(cells).rstrip())
    if n_more := len({overlap.judgments for overlap in overlaps}) - len(judgment_files):
        lines.append(f"{INDENT}(and by {format_count(n_more, 'file')} more: --json)")
    return "\n".join(lines)


def _overlap_cell(overlap: Overlap) -> str:
    if overlap.share is None:
        return "no query"
    return (
        "100%"
        if overlap.judged == overlap.top
        else f"{_judged_share_text(overlap.share)}, {overlap.top - overlap.judged:,} not"
    )


def _overlap_range_cell(overlaps: Sequence[Overlap]) -> str:
    shares = [overlap.share for overlap in overlaps if overlap.share is not None]
    if not shares:
        return "no query"
    low, high = _judged_share_text(min(shares)), _judged_share_text(max(shares))
    return low if low == high else f"{low} to {high}"


def _judged_share_text(share: float) -> str:
    return f"{share:.1%}" if 0.99 < share < 1 else f"{share:.0%}"


def _notes_section(checkup: Checkup, short_names: Mapping[str, str]) -> str:
    """Every caveat; that of several files once."""
    names_by_text: dict[str, list[str]] = {}
    for file in checkup.files:
        for note in file.notes:
            names_by_text.setdefault(_use_short_names(_spell_note(note), short_names), []).append(
                _shorten_name(short_names[file.path])
            )
    if not names_by_text:
        return ""
    lines = [_heading("Worth a look")]
    for text, names in names_by_text.items():
        lines += _wrap_lines(f"{join_first_few(names)}: {text}", INDENT, 2 * INDENT)
    return "\n".join(lines)


def _commands_section(checkup: Checkup, short_names: Mapping[str, str]) -> str:
    sections = []
    for heading, verbs in SECTIONS.items():
        lines = []
        for question in checkup.can:
            if question.call.command not in verbs:
                continue
            lines.append(f"{INDENT}{question.question}")
            lines += _fold_command(SHELL.call(question.call))
            lines += _comment_lines(_use_short_names(question.why, short_names))
        if lines:
            sections.append("\n".join([_heading(heading), *lines]))
    return "\n\n".join(sections)


def _fold_command(command: str) -> list[str]:
    """A command in lines that a shell joins again."""
    words = re.findall(r"(?:'[^']*'|\"[^\"]*\"|\\.|\S)+", command)
    lines, line = [], 2 * INDENT
    for position, word in enumerate(_join_options_with_values(words)):
        if position and len(line) + len(word) + 3 > WIDTH:
            lines.append(f"{line} \\")
            line = 4 * INDENT + word
        else:
            line += word if not position else f" {word}"
    return [click.style(folded_line, fg="cyan") for folded_line in [*lines, line]]


def _join_options_with_values(words: Iterable[str]) -> list[str]:
    """Options together with their values, so that no line breaks between the two."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1].startswith("-") and " " not in joined[-1] and not word.startswith("-"):
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return joined


def _comment_lines(text: str) -> list[str]:
    return [click.style(line, dim=True) for line in _wrap_lines(text, 2 * INDENT + "# ")]


def _missing_section(checkup: Checkup, short_names: Mapping[str, str]) -> str:
    """What is missing for other commands; those that lack the same together."""
    from ringtrue.doctor.results import name_verb

    if not checkup.cannot:
        return ""
    verbs_by_requirement: dict[str, list[str]] = {}
    for question in checkup.cannot:
        reason = _use_short_names(_spell_reason(question), short_names)
        todo = question.obstacle.todo(SHELL)
        requirement = (
            f"{'cannot:' if question.obstacle.is_refusal else 'needs'} {reason}. {todo[:1].upper()}{todo[1:]}."
        )
        verbs_by_requirement.setdefault(requirement, []).append(name_verb(question.command, question.argument, SHELL))
    lines = [_heading("Not with these files")]
    for requirement, verbs in verbs_by_requirement.items():
        lines += _wrap_lines(", ".join(verbs), INDENT)
        lines += _wrap_lines(requirement, 2 * INDENT)
    return "\n".join(lines)


def _wrap_lines(text: str, indent: str, next_indent: str | None = None) -> list[str]:
    """A text in lines of 80 characters; names of files stay whole."""
    return wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if next_indent is None else next_indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _use_short_names(text: str, short_names: Mapping[str, str]) -> str:
    """A text with the short names of files."""
    for path, name in sorted(short_names.items(), key=lambda path_and_name: -len(path_and_name[0])):
        text = text.replace(path, name)
    return text
