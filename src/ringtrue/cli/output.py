"""Answers on a screen: aligned text for people, JSON, CSV, Markdown and LaTeX for what comes next."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, TypeAlias

import click

from ringtrue.cli.spelling import CommandLine
from ringtrue.formatting.grid import Grid, render_csv, render_latex, render_markdown, render_text, shorten_gains
from ringtrue.messages import Note, notes_as_dict, spell, spell_all
from ringtrue.stats.results import Estimate

LONG_WORK_BYTES = 32_000_000  # bytes: about a quarter of a second
MAX_REDRAWS = 500  # of a bar
ERASE_LINE_ABOVE = "\x1b[A\x1b[2K"
OutputFormat: TypeAlias = Literal["table", "json", "csv", "markdown", "latex"]


def emit(
    form: OutputFormat,
    *,
    payload: Mapping[str, object],
    grid: Grid | Callable[[], Grid | Sequence[Grid]],
    csv_grid: Callable[[], Grid] | None = None,
    notes: Sequence[Note] | None = None,
) -> None:
    """Print an answer: `payload` as JSON, `csv_grid` as CSV with every digit, `grid` as tables; only one is made.

    Notes go to standard error, and into the JSON.
    """
    print_notes(notes or ())
    if form == "json":
        if notes is not None:
            payload = {**payload, **notes_as_dict(notes)}
        payload = spell_all(payload, CommandLine.here())
        # Indented for eyes only: Python writes compact JSON many times faster.
        indent = 2 if sys.stdout.isatty() else None
        click.echo(json.dumps(payload, ensure_ascii=False, allow_nan=False, indent=indent))
    elif form == "csv":
        click.echo("\n".join(map(render_csv, _as_grids(csv_grid or grid))), nl=False)
    else:
        renderers = {"table": render_text, "markdown": render_markdown, "latex": render_latex}
        click.echo("\n\n".join(renderers[form](shorten_gains(shown_grid)) for shown_grid in _as_grids(grid)))


def _as_grids(grid_or_maker: Grid | Callable[[], Grid | Sequence[Grid]]) -> Sequence[Grid]:
    grids = grid_or_maker if isinstance(grid_or_maker, Grid) else grid_or_maker()
    return [grids] if isinstance(grids, Grid) else grids


def means_as_dict(means: Mapping[str, Mapping[str, Estimate]]) -> dict[str, dict[str, dict[str, object]]]:
    """run → measure → estimate, as plain data for JSON."""
    return {run: {name: estimate.as_dict() for name, estimate in estimates.items()} for run, estimates in means.items()}


def print_notes(notes: Iterable[Note]) -> None:
    """Say what is worth knowing beside the answer, on standard error."""
    for note in notes:
        click.echo(f"note: {spelled(note)}", err=True)


def spelled(note: Note) -> str:
    """The sentence of a note as it stands on a screen."""
    return spell(note, CommandLine.here())


@contextmanager
def progress_bar(total: int, *, description: str) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that is told how much was done; only for long work, and only if somebody looks."""
    if total < LONG_WORK_BYTES or not sys.stderr.isatty():
        yield lambda _: None
        return
    redraw_after = total // MAX_REDRAWS
    with click.progressbar(length=total, label=description, file=sys.stderr, update_min_steps=redraw_after) as bar:
        yield bar.update
    click.echo(ERASE_LINE_ABOVE, nl=False, err=True)


@contextmanager
def step_bar(number: int, *, description: str) -> Iterator[Callable[[str], None]]:
    """A bar on standard error for work of several steps, told the name of each as it begins; only if somebody looks."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=number, label=description, file=sys.stderr) as bar:

        def step(name: str) -> None:
            bar.label = name
            bar.update(1)

        yield step
    click.echo(ERASE_LINE_ABOVE, nl=False, err=True)
