"""`ringtrue agree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.labels import Labelling, labelling_options
from ringtrue.cli.output import OutputFormat, emit, progress_bar, tell

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement
    from ringtrue.judges.votes import Votes

__all__ = ["command"]


@click.command("agree", cls=Command)
@labelling_options
@click.option("--rel", type=int, default=1, show_default=True, help="The lowest label that is relevant, for overlap.")
@click.option("--panels", metavar="COLUMN",
              help="Judges come in panels, told apart by this column: compare the panels' majorities.")  # fmt: skip
@click.option("--pairs", type=click.IntRange(min=0), default=1_000, show_default=True,
              help="At most so many pairs of judges, those with the most items in common.")  # fmt: skip
@click.option("--resamples", type=click.IntRange(0, 1_000_000), default=1_000, show_default=True,
              help="How often to draw the queries anew for intervals; 0 for none.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
@output_options
def command(
    labelling: Labelling, rel: int, panels: str | None, pairs: int, resamples: int, seed: int, form: OutputFormat
) -> None:
    """How far do the judges agree?

    LABELS are judgments of several judges (query, doc, judge, label), or preferences (query, left, right, judge,
    winner); several files count together. Any label may be missing. Intervals are drawn over queries; over items where
    there is one query.
    """
    from ringtrue.cli.tables.agreement import flat, grids

    found, parts = _answers(labelling, rel=rel, panels=panels, pairs=pairs, resamples=resamples, seed=seed)
    notes = labelling.told([*found.notes, *_scales(parts)])
    tell(notes)
    data = found.as_dict() | {"seed": seed, "notes": notes}
    if parts:
        data["panels"] = {
            name: {key: part.as_dict()[key] for key in ("judges", "items", "votes", "overall", "consensus", "notes")}
            for name, part in parts.items()
        }
    emit(form, data=data, grid=partial(grids, found, parts, rel), flat=partial(flat, found, parts))


def _scales(parts: Mapping[str, Agreement]) -> list[str]:
    """A word where panels use different labels: two of them may not mean the same."""
    used = {name: ", ".join(map(str, part.used)) for name, part in parts.items()}
    if len(set(used.values())) < 2:
        return []
    return ["panels use different labels: " + "; ".join(f"{name} {labels}" for name, labels in used.items())]


def _answers(
    labelling: Labelling, *, rel: int, panels: str | None, pairs: int, resamples: int, seed: int
) -> tuple[Agreement, Mapping[str, Agreement]]:
    """The judges, or the panels and the judges of each."""
    import numpy as np

    from ringtrue.judges.agreement import agree

    votes, gold = labelling.votes(), labelling.gold_votes()
    parts: Mapping[str, Votes] = {}
    repeats = labelling.repeats
    if panels is not None:
        votes, parts = labelling.explained(lambda: votes.panels(panels, repeats=repeats))
        repeats = "all"  # settled within the panels
    turns: Sequence[int] = [votes.size * (2 if gold is None else 3), *(part.size for part in parts.values())]
    with progress_bar(resamples * sum(turns), what="resampling") as advance:

        def asked(some: Votes, most: int, *, alone: bool = False) -> Agreement:
            answer: Agreement = labelling.explained(
                lambda: agree(
                    some,
                    gold=gold,
                    rel=rel,
                    repeats=repeats,
                    alone=alone,
                    pairs=most,
                    resamples=resamples,
                    level=labelling.level,
                    rng=np.random.default_rng(seed),
                    progress=advance,
                )
            )
            return answer

        return asked(votes, pairs), {name: asked(part, 0, alone=True) for name, part in parts.items()}
