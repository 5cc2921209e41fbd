"""`ringtrue agree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import REL_HELP, Command, option, output_options, resamples_option, seed_option
from ringtrue.cli.options.labels import LabelInputs, label_options
from ringtrue.cli.output import OutputFormat, emit, progress_bar, spelled
from ringtrue.formatting.grid import Grid, format_interval, format_number
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.stats.results import NUMBER_FIELDS, Estimate, describe_intervals, exact_estimate, format_estimates

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement, PairAgreement, Transitivity
    from ringtrue.judges.votes import Votes

MAX_PAIRS, MAX_GOLD_PAIRS = 10, 40  # pairs
STATISTICS = {
    "agreement": "raw agreement",
    "overlap": "overlap of the relevant",
    "fleiss_kappa": "Fleiss' kappa",
    "scott_pi": "Scott's pi",
    "conger": "Conger's kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "alpha_ratio": "Krippendorff's alpha, ratio",
    "ac1": "Gwet's AC1",
    "brennan_prediger": "Brennan–Prediger, Randolph",
    "self_consistency": "the same judge again",
    "cross_consistency": "another judge on those items",
}
CONSISTENCY_STATISTICS = ("self_consistency", "cross_consistency")
PANEL_KEYS = ("judges", "items", "votes", "overall", "consensus", "notes", "note_codes")
LABEL_STATISTICS = ("overlap", "alpha_interval", "alpha_ratio")


@click.command("agree", cls=Command)
@label_options
@option("--rel LABEL", REL_HELP, type=int, default=1)
@option("--panels COLUMN", "Judges come in panels, told apart by this column: compare the panels' majorities.")
@option(
    "--pairs",
    "At most so many pairs of judges, those with the most documents in common.",
    type=click.IntRange(min=0),
    default=1_000,
)
@resamples_option(1_000, lowest=0, highest=1_000_000)
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
    agreement, panel_agreements = _measure_agreement(
        label_inputs, rel=rel, panels=panels, pairs=pairs, resamples=resamples, seed=seed
    )
    notes = label_inputs.merge_notes([*agreement.notes, *_note_different_scales(panel_agreements)])
    payload = agreement.as_dict() | {"seed": seed}
    if panel_agreements:
        payload["panels"] = {
            name: {key: part for key, part in panel_agreement.as_dict().items() if key in PANEL_KEYS}
            for name, panel_agreement in panel_agreements.items()
        }
    emit(
        form,
        notes=notes,
        payload=payload,
        grid=partial(_agreement_grids, agreement, panel_agreements, rel),
        csv_grid=partial(_agreement_csv, agreement, panel_agreements),
    )


def _note_different_scales(panel_agreements: Mapping[str, Agreement]) -> list[Note]:
    """A word where panels use different labels: two of them may not mean the same."""
    labels_by_panel = {name: ", ".join(map(str, agreement.used)) for name, agreement in panel_agreements.items()}
    if len(set(labels_by_panel.values())) < 2:
        return []
    listed = "; ".join(f"{name} {labels}" for name, labels in labels_by_panel.items())
    return [Note("different-scales", f"panels use different labels: {listed}")]


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
    votes_in_panels = sum(panel.size for panel in panel_votes.values())
    total = resamples * (votes.size * (2 if gold is None else 3) + votes_in_panels)
    with progress_bar(total, description="resampling") as advance:

        def agree_on(subset: Votes, max_pairs: int, *, within_panel: bool = False) -> Agreement:
            return agree(
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

        overall: Agreement = label_inputs.explain_errors(lambda: agree_on(votes, pairs))
        of_panels: Mapping[str, Agreement] = label_inputs.explain_errors(
            lambda: {name: agree_on(panel, 0, within_panel=True) for name, panel in panel_votes.items()}
        )
        return overall, of_panels


def _agreement_grids(agreement: Agreement, panel_agreements: Mapping[str, Agreement], rel: int) -> list[Grid]:
    """Everything that a person may want to read, the answer last."""
    tables = [_panel_grid(panel_agreements)] if panel_agreements else []
    has_only_gold = len(agreement.judges) == 1 and bool(agreement.gold)
    if not has_only_gold:
        tables.append(_overall_grid(agreement, rel, "all panels" if panel_agreements else "all judges"))
    if agreement.gold and agreement.consensus is not None:
        with_gold = [agreement.consensus] * (not has_only_gold) + list(agreement.gold)
        tables.append(_pair_grid(with_gold, "pairs with gold", "the closest first", max_pairs=MAX_GOLD_PAIRS))
    if agreement.pairs:
        tables.append(
            _pair_grid(
                agreement.pairs, "pairs of panels" if panel_agreements else "pairs of judges", "most items first"
            )
        )
    if agreement.drift:
        tables.append(_drift_grid(agreement))
    verdict = "\n".join(_agreement_verdict(agreement, "panels" if panel_agreements else "judges"))
    tables[-1] = replace(tables[-1], caption=f"{tables[-1].caption}\n\n{verdict}".strip("\n"))
    return tables


def _overall_grid(agreement: Agreement, rel: int, heading: str) -> Grid:
    is_of_pairs = agreement.transitivity is not None
    rows: list[list[str]] = []
    reasons: dict[str, list[str]] = {}
    for name, title in STATISTICS.items():
        estimate = agreement.overall[name]
        if (estimate.value is None and name in CONSISTENCY_STATISTICS) or (is_of_pairs and name in LABEL_STATISTICS):
            continue
        row_title = f"{title} (≥ {rel})" if name == "overlap" else title
        digits = estimate.decimals + 1 if estimate.se else 3
        value = format_number(estimate.value, digits, missing="undefined")
        rows.append([row_title, value, format_interval(estimate.low, estimate.high, digits)])
        if estimate.value is None:
            reasons.setdefault(spelled(estimate.notes[0]), []).append(row_title)
    level = agreement.overall["agreement"].level
    method = agreement.overall["agreement"].method
    interval_text = method.replace("bootstrap", "intervals") if "over" in method else "no intervals asked"
    unit = "pair" if is_of_pairs else "item"
    judges_text = format_count(len(agreement.judges), heading.removeprefix("all ").removesuffix("s"))
    size = f"{judges_text}, {format_count(agreement.votes, 'label')} of {format_count(agreement.items, unit)}"
    if agreement.queries > 1:
        size += f" in {agreement.queries:,} queries"
    labels_text = ", ".join(map(str, agreement.labels))
    scale_text = (
        ""
        if is_of_pairs
        else "; labels "
        f"{labels_text if len(agreement.labels) <= 10 else f'{agreement.labels[0]} to {agreement.labels[-1]}'}"
    )
    return Grid(
        columns=[heading, "value", f"{level * 100:g}% interval"],
        rows=rows,
        caption="\n".join(
            [
                f"{size}{scale_text}; {interval_text}",
                *(_explain_undefined(*reason_and_names) for reason_and_names in reasons.items()),
            ]
        ),
        left=1,
    )


def _explain_undefined(reason: str, names: Sequence[str]) -> str:
    return f"{names[0] if len(names) == 1 else 'undefined'}: {reason}"


def _pair_grid(pairs: Sequence[PairAgreement], heading: str, order: str, *, max_pairs: int = MAX_PAIRS) -> Grid:
    shown_pairs = pairs[:max_pairs]
    rows = [
        [
            pair.a,
            pair.b,
            f"{pair.n:,}",
            _coefficient_cell(pair.agreement.value),
            _coefficient_with_interval(pair.kappa),
            _coefficient_cell(pair.kappa_quadratic.value),
            _coefficient_with_interval(pair.alpha_ordinal),
        ]
        for pair in shown_pairs
    ]
    n_more = len(pairs) - len(shown_pairs)
    return Grid(
        columns=[heading, "", "items", "agree", "kappa", "quadratic", "alpha"],
        rows=rows,
        caption="kappa: Cohen's; quadratic: its weighted kind; alpha: Krippendorff's, ordinal; their intervals"
        f"{f'; {order}' * (len(pairs) > 1)}{f'; {n_more:,} more pairs in --json and --format csv' * bool(n_more)}",
        left=2,
    )


def _coefficient_cell(value: float | None) -> str:
    return format_number(value, 2, missing="undefined")


def _coefficient_with_interval(estimate: Estimate) -> str:
    interval = format_interval(estimate.low, estimate.high, 2)
    return _coefficient_cell(estimate.value) + (f" ({interval})" if interval != "–" else "")


def _panel_grid(panel_agreements: Mapping[str, Agreement]) -> Grid:
    names = ["agreement", "alpha_nominal", "alpha_ordinal"]
    columns = [format_estimates([panel.overall[name] for panel in panel_agreements.values()]) for name in names]
    has_gold = any(panel.consensus is not None for panel in panel_agreements.values())
    if has_gold:
        undefined = Estimate(value=None, n=0, method="none", notes=(Note("no-gold-labels", "no gold label"),))
        with_gold = [
            undefined if panel.consensus is None else panel.consensus.kappa for panel in panel_agreements.values()
        ]
        columns.append(format_estimates(with_gold))
    rows = [
        [name, f"{len(panel.judges):,}", f"{panel.votes:,}", *cells]
        for (name, panel), cells in zip(panel_agreements.items(), zip(*columns, strict=True), strict=True)
    ]
    return Grid(
        columns=["panel", "judges", "labels", "agree", "nominal", "ordinal", *(["gold"] * has_gold)],
        rows=rows,
        caption="within each panel: raw agreement, alpha nominal and ordinal"
        + "; gold: kappa of its majority with gold" * has_gold
        + describe_intervals(columns),
    )


def _drift_grid(agreement: Agreement) -> Grid:
    columns = [
        format_estimates([getattr(period, name) for period in agreement.drift]) for name in ("agreement", "leniency")
    ]
    rows = [
        [period.first, period.last, f"{period.labels:,}", *cells]
        for period, cells in zip(agreement.drift, zip(*columns, strict=True), strict=True)
    ]
    return Grid(
        columns=["from", "to", "labels", "agree", "higher"],
        rows=rows,
        caption="over time: how often a label is another judge's, and how much higher it is than the others'"
        + describe_intervals(columns),
        left=2,
    )


def _agreement_verdict(agreement: Agreement, judges_or_panels: str) -> list[str]:
    from ringtrue.judges.agreement.coefficients import describe_alpha

    lines = []
    alpha, raw = agreement.overall["alpha_ordinal"], agreement.overall["agreement"]
    if agreement.transitivity is not None:
        alpha = agreement.overall["alpha_nominal"]
    if raw.value is not None and alpha.value is not None:
        alpha_kind = "nominal" if agreement.transitivity is not None else "ordinal"
        interval_text = (
            ""
            if alpha.low is None or alpha.high is None
            else f" ({alpha.low:.2f} to {alpha.high:.2f})".replace("-", "−")
        )
        lines.append(
            f"Two labels of an item are equal in {100 * raw.value:.0f}% of cases; {alpha_kind} alpha is "
            f"{alpha.value:.2f}{interval_text}: {describe_alpha(alpha)}".replace("-", "−")
        )
    elif raw.value is not None:
        lines.append(f"Two labels of an item are equal in {100 * raw.value:.0f}% of cases; {spelled(alpha.notes[0])}.")
    self_consistency, cross_consistency = agreement.overall["self_consistency"], agreement.overall["cross_consistency"]
    if self_consistency.value is not None:
        cross_text = (
            ""
            if cross_consistency.value is None
            else f"; another judge gives it in {100 * cross_consistency.value:.0f}%"
        )
        lines.append(
            f"A judge who labels an item again gives the same label in {100 * self_consistency.value:.0f}% "
            f"of cases{cross_text}."
        )
    if agreement.consensus is not None and agreement.consensus.kappa.value is not None and len(agreement.judges) > 1:
        pair = agreement.consensus
        lines.append(
            f"The {judges_or_panels}' majority gives the gold label to {100 * (pair.agreement.value or 0):.0f}% of "
            f"{pair.n:,} items (kappa {_coefficient_cell(pair.kappa.value)})."
        )
    lines += _closest_to_gold(agreement, judges_or_panels.removesuffix("s"))
    if agreement.transitivity is not None:
        lines += _circle_lines(agreement.transitivity)
    return lines


def _closest_to_gold(agreement: Agreement, judge_or_panel: str) -> list[str]:
    """Who agrees best with gold, and who worst."""
    rated_pairs = [pair for pair in agreement.gold if pair.kappa.value is not None]
    if not rated_pairs:
        return []
    first, last = rated_pairs[0], rated_pairs[-1]
    share = f"gives the gold label to {100 * (first.agreement.value or 0):.0f}% of {first.n:,} items"
    if len(rated_pairs) == 1:
        return [f"'{first.b}' {share}, kappa {_coefficient_with_interval(first.kappa)}."]
    closest_text = (
        f"The {judge_or_panel} closest to gold is {first.b}, who {share}, kappa "
        f"{_coefficient_with_interval(first.kappa)}"
    )
    return [f"{closest_text}; the last is {last.b}, kappa {_coefficient_with_interval(last.kappa)}."]


def _circle_lines(transitivity: Transitivity) -> list[str]:
    lines = []
    if transitivity.majority.value is not None:
        lines.append(
            f"Of {format_count(transitivity.majority.n, 'triple')} of documents, the majority's preferences run in a "
            f"circle in {100 * (1 - transitivity.majority.value):.1f}% (coin flips: 25%)."
        )
    if transitivity.cycle is not None:
        query, *docs = transitivity.cycle
        lines.append(f"Such as in query {query}: {docs[0]} beats {docs[1]} beats {docs[2]} beats {docs[0]}.")
    return lines


def _agreement_csv(agreement: Agreement, panel_agreements: Mapping[str, Agreement]) -> Grid:
    """Every statistic of all judges, of every panel and of every pair, a row each, with every digit."""
    rows = [
        [panel_name, "", name, *exact_estimate(estimate, NUMBER_FIELDS)]
        for panel_name, panel in {"": agreement, **panel_agreements}.items()
        for name, estimate in panel.overall.items()
    ]
    for pair in (*([agreement.consensus] if agreement.consensus else ()), *agreement.gold, *agreement.pairs):
        for name, value in pair.as_dict().items():
            if isinstance(value, dict):
                rows.append([pair.a, pair.b, name, *exact_estimate(getattr(pair, name), NUMBER_FIELDS)])
    return Grid(columns=["a", "b", "statistic", *NUMBER_FIELDS], rows=rows)
