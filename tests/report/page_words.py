"""What a page says in plain lines, as the command line has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ringtrue.cli.shell_words import ShellSpelling
from ringtrue.messages import Note, spell
from ringtrue.report.model import Figure, Report, Section

SPELLING = ShellSpelling()
Words: TypeAlias = Callable[..., None]  # holds parts of a page against what they said before


def note_codes(part: Report | Section | Figure) -> list[str]:
    """The codes of the notes on a page, a section or a figure."""
    return [note.code for note in part.notes]


def find_notes(part: Report | Section | Figure, code: str) -> list[Note]:
    """The notes of this code."""
    return [note for note in part.notes if note.code == code]


def words_of(part: Report | Section | Figure | str) -> str:
    """Everything but the numbers in tables and pictures."""
    lines = {Report: page_lines, Section: section_lines, Figure: figure_lines}
    return part if isinstance(part, str) else "\n".join(lines[type(part)](part))  # type: ignore[operator]


def page_lines(report: Report) -> Iterator[str]:
    yield f"# {report.title}"
    yield from (f"{name}: {words}" for name, words in report.asked)
    for section in report.sections:
        yield ""
        yield from section_lines(section)
    if report.absent:
        yield "\n## Not on this page"
    yield from (f"{titles}: {_spelled(reason)}" for titles, reason in report.absent)


def section_lines(section: Section) -> Iterator[str]:
    yield f"## {section.title}\n{section.answer}"
    for figure in section.figures:
        yield ""
        yield from figure_lines(figure)
    for caption, table in section.tables:
        yield f"\n### {caption}\n{' | '.join(table.columns)}: {len(table.rows)} rows. {table.caption}"
    yield from (f"- {call.purpose}: {SPELLING.call(call)}" for call in section.calls)
    yield from (f"* {_spelled(note)}" for note in section.notes)


def figure_lines(figure: Figure) -> Iterator[str]:
    yield f"### {figure.title}\n{figure.sentence}\n{' | '.join(figure.table.columns)}. {figure.table.caption}"
    yield from (f"* {_spelled(note)}" for note in figure.notes)


def _spelled(note: Note) -> str:
    return spell(note, SPELLING.arguments_of("report"))
