"""`ringtrue agree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, option, output_options, seed_option
from ringtrue.cli.options.labels import LabelInputs, label_options, resamples_option
from ringtrue.cli.output import OutputFormat, emit, print_notes, progress_bar

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement
    from ringtrue.judges.votes import Votes


@click.command("agree", cls=Command)
@label_options
@option("--rel", "The lowest label that is relevant, for overlap.", type=int, default=1)
@option("--panels COLUMN", "Judges come in panels, told apart by this column: compare the panels' majorities.")
@option(
    "--pairs",
    "At most so many pairs of judges, those with the most items in common.",
    type=click.IntRange(min=0),
    default=1_000,
)
@resamples_option
@seed_option
@output_options
def command(
    label_inputs: LabelInputs, rel: int, panels: str | None, pairs: int, resamples: int, seed: int, form: OutputFormat
) -> None:
    """How far do the judges agree?

    LABELS are judgments of several judges (query, doc, judge, label), or preferences (query, left, right, judge,
    winner); several files count together. Any label may be missing. Intervals are drawn over queries; over items where
    there is one query.
    """
    from ringtrue.cli.tables.agreement import agreement_csv, agreement_grids

    agreement, panel_agreements = _measure_agreement(
        label_inputs, rel=rel, panels=panels, pairs=pairs, resamples=resamples, seed=seed
    )
    notes = label_inputs.merge_notes([*agreement.notes, *_note_different_scales(panel_agreements)])
    print_notes(notes)
    payload = agreement.as_dict() | {"seed": seed, "notes": notes}
    if panel_agreements:
        payload["panels"] = {
            name: {
                key: panel_agreement.as_dict()[key]
                for key in ("judges", "items", "votes", "overall", "consensus", "notes")
            }
            for name, panel_agreement in panel_agreements.items()
        }
    emit(
        form,
        payload=payload,
        grid=partial(agreement_grids, agreement, panel_agreements, rel),
        csv_grid=partial(agreement_csv, agreement, panel_agreements),
    )


def _note_different_scales(panel_agreements: Mapping[str, Agreement]) -> list[str]:
    """A word where panels use different labels: two of them may not mean the same."""
    labels_by_panel = {name: ", ".join(map(str, agreement.used)) for name, agreement in panel_agreements.items()}
    if len(set(labels_by_panel.values())) < 2:
        return []
    return ["panels use different labels: " + "; ".join(f"{name} {labels}" for name, labels in labels_by_panel.items())]


def _measure_agreement(
    label_inputs: LabelInputs, *, rel: int, panels: str | None, pairs: int, resamples: int, seed: int
) -> tuple[Agreement, Mapping[str, Agreement]]:
    """The judges, or the panels and the judges of each."""
    import numpy as np

    from ringtrue.judges.agreement import agree

    votes, gold = label_inputs.read_votes(), label_inputs.read_gold_votes()
    panel_votes: Mapping[str, Votes] = {}
    repeats = label_inputs.repeats
    if panels is not None:
        votes, panel_votes = label_inputs.explain_errors(lambda: votes.split_panels(panels, repeats=repeats))
        repeats = "all"  # settled within the panels
    vote_counts: Sequence[int] = [
        votes.size * (2 if gold is None else 3),
        *(single_panel.size for single_panel in panel_votes.values()),
    ]
    with progress_bar(resamples * sum(vote_counts), description="resampling") as advance:

        def agree_on(subset: Votes, max_pairs: int, *, within_panel: bool = False) -> Agreement:
            agreement: Agreement = label_inputs.explain_errors(
                lambda: agree(
                    subset,
                    gold=gold,
                    rel=rel,
                    repeats=repeats,
                    alone=within_panel,
                    pairs=max_pairs,
                    resamples=resamples,
                    level=label_inputs.level,
                    rng=np.random.default_rng(seed),
                    progress=advance,
                )
            )
            return agreement

        return agree_on(votes, pairs), {
            name: agree_on(single_panel, 0, within_panel=True) for name, single_panel in panel_votes.items()
        }
