"""Disagreement between users as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid, format_interval, format_number, format_signed
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.disagreement.disagree import FEW_CASES
from ringtrue.stats.results import NUMBER_FIELDS, describe_intervals, exact_estimate, format_estimates

if TYPE_CHECKING:
    from ringtrue.judges.disagreement import Consistency, Disagreement, MutualEvaluation
    from ringtrue.stats.results import Estimate


def disagreement_grids(
    disagreement: Disagreement, by: str | None, output: str | None, cross_evaluation: MutualEvaluation | None = None
) -> list[Grid]:
    """Everything that a person may want to read, the answer last."""
    tables = [] if cross_evaluation is None else [_mutual_grid(cross_evaluation)]
    if disagreement.verified:
        tables.append(_verification_grid(disagreement))
    if disagreement.consistency is not None:
        tables.append(_consistency_grid(disagreement, disagreement.consistency))
    if disagreement.strata:
        tables.append(_strata_grid(disagreement, by or ""))
    return [*tables, _weight_grid(disagreement, output)]


def _mutual_grid(cross_evaluation: MutualEvaluation) -> Grid:
    pairs = set(cross_evaluation.judges.values())
    judges_text = (
        " and ".join(next(iter(pairs))) if len(pairs) == 1 else "the two judges with the most documents in common"
    )
    return Grid(
        columns=["measure", "mean", "sd", "queries", "left out"],
        rows=[
            [measure, *(format_number(number, 3) for number in (mean, sd)), f"{queries:,}", f"{left_out:,}"]
            for measure, mean, sd, queries, left_out in cross_evaluation.table.rows()
        ],
        caption=f"In each query, the order by one of {judges_text} scored by the other's labels, both ways; "
        "weights from the "
        "other queries.\n1 would be a measure for which it does not matter whose labels it uses. exp: gains of "
        "2^level − 1; zipf: discount 1/rank;\nM/N: weights for at least M of N users; left out: nothing of worth in "
        "the query, or a label that no other query has",
    )


def _weight_grid(disagreement: Disagreement, output: str | None) -> Grid:
    level = next(iter(disagreement.p.values())).level
    interval = f"{level * 100:g}% interval"
    rows = [
        [
            name,
            _cases_cell(disagreement.cases[name]),
            f"{disagreement.p[name].n:,}",
            *_weight_cells(disagreement.p[name]),
            *_weight_cells(disagreement.weights[name]),
        ]
        for name in disagreement.levels
    ]
    min_users, n_users = disagreement.at_least
    top = _top_name(disagreement)
    size = (
        f"{format_count(disagreement.votes, 'label')} by {format_count(disagreement.judges, 'judge')} of "
        f"{format_count(disagreement.documents, 'document')}"
        f"{f' in {disagreement.queries:,} queries' if disagreement.queries > 1 else ''} with "
        f"{disagreement.min_labels} labels or more"
    )
    lines = [
        f"{size}\np: another user says {top}, given this label; cases: pairs of labels behind p",
        *_case_flags(disagreement),
        "",
        f"Weight: the chance that at least {min_users} of {format_count(n_users, 'user')} "
        f"say{'s' * (n_users == 1)} {top}, "
        + f"one of whom gave this label. {_weight_sentence(disagreement)}".rstrip(),
        _next_step(output),
    ]
    return Grid(
        columns=[
            "label",
            "cases",
            "documents",
            f"p({top} | label)",
            interval,
            f"weight {min_users}/{n_users}",
            interval,
        ],
        rows=rows,
        caption="\n".join(lines),
    )


def _case_flags(disagreement: Disagreement) -> list[str]:
    """The flags together: of combined levels there may be many."""
    rare_levels = [name for name, cases in disagreement.cases.items() if 0 < cases < FEW_CASES]
    unseen_levels = [name for name, cases in disagreement.cases.items() if not cases]
    lines = [f"fewer than {FEW_CASES} cases, p is not accurate: {', '.join(rare_levels)}"] if rare_levels else []
    return lines + ([f"never seen, p is undefined: {', '.join(unseen_levels)}"] if unseen_levels else [])


def _weight_sentence(disagreement: Disagreement) -> str:
    """The levels in between in a few words: they are what the model is about."""
    weight_texts = [
        f"{name} for {weight.value:.2f}"
        for name, weight in disagreement.weights.items()
        if weight.value is not None and weight.method != "lowest level"
    ]
    return f"So a label counts: {', '.join(weight_texts)}." if 0 < len(weight_texts) <= 5 else ""


def _next_step(output: str | None) -> str:
    if output is None:
        return "-o gains.json writes the weights as gains, which evaluate --gains takes"
    return f"written to {output}; next: ringtrue evaluate RUN… --judgments FILE --gains {output} -m nDCG@10"


def _strata_grid(disagreement: Disagreement, by: str) -> Grid:
    strata = list(disagreement.strata.items())
    columns: list[str] = []
    cells: list[Sequence[str]] = []
    p_columns: list[Sequence[str]] = []
    for name in disagreement.levels:
        columns += [f"p given {name}", "cases"]
        p_columns.append(format_estimates([stratum.p[name] for _, stratum in strata]))
        cells.append(p_columns[-1])
        cells.append([_cases_cell(stratum.cases[name]) for _, stratum in strata])
    rows = [
        [name, f"{stratum.documents:,}", *row]
        for (name, stratum), row in zip(strata, zip(*cells, strict=True), strict=True)
    ]
    return Grid(
        columns=[by, "documents", *columns],
        rows=rows,
        caption=f"p: another user says {_top_name(disagreement)}, given a label{describe_intervals(p_columns)}\n"
        f"cases in brackets: fewer than {FEW_CASES}, p is not accurate; --json has the weights of each",
    )


def _cases_cell(cases: int) -> str:
    return f"({cases})" if cases < FEW_CASES else f"{cases:,}"


def _verification_grid(disagreement: Disagreement) -> Grid:
    rows = [
        [
            "/".join(map(str, check.at_least)),
            check.level,
            f"{check.experimental.n:,}",
            *map(_weight_with_interval, (check.experimental, check.predicted)),
            _difference_cell(check.experimental, check.predicted),
        ]
        for check in disagreement.verified
    ]
    return Grid(
        columns=["at least", "label", "documents", "experimental", "predicted", "differ by"],
        rows=rows,
        caption="experimental: over all ways to draw N labels of a document, one of them this label\n"
        "predicted: by p alone, as if documents with this label were all alike",
        left=2,
    )


def _difference_cell(experimental: Estimate, predicted: Estimate) -> str:
    if experimental.value is None or predicted.value is None:
        return "–"
    return format_signed(experimental.value - predicted.value, 3)


def _consistency_grid(disagreement: Disagreement, consistency: Consistency) -> Grid:
    top = _top_name(disagreement)
    within, across = consistency.within, consistency.across
    by_judge, by_document = consistency.by_judge, consistency.by_document
    rows = [
        [f"{top} given {name}", *map(_weight_with_interval, (within[name], across[name]))]
        for name in disagreement.levels
    ]
    rows += [
        [f"overlap of {top}", *map(_weight_with_interval, (consistency.overlap_within, consistency.overlap_across))],
        [f"judges by p({top} | {top})", *map(_bin_counts_cell, (by_judge.within, by_judge.across))],
        [f"documents by p({top} | {top})", *map(_bin_counts_cell, (by_document.within, by_document.across))],
    ]
    return Grid(
        columns=["label again", "by the same judge", "by another judge"],
        rows=rows,
        caption=f"on {format_count(consistency.documents, 'document')} that some judge labelled again; the "
        "last two rows: "
        f"how many have a p in each tenth from 0 to 1\n{_consistency_verdict(disagreement, consistency)}".rstrip("\n"),
    )


def _consistency_verdict(disagreement: Disagreement, consistency: Consistency) -> str:
    within, across = consistency.overlap_within, consistency.overlap_across
    if None in (within.low, within.high, across.low, across.high):
        return ""
    if (within.low or 0) > (across.high or 0):
        return "Judges agree with themselves more than with each other: users differ, beyond mere carelessness."
    if (within.high or 0) < (across.low or 0):
        return "Judges agree with each other more than with themselves: their repeats deserve a look."
    return (
        f"It cannot be told whether judges agree on {_top_name(disagreement)} with themselves more than "
        "with each other."
    )


def _bin_counts_cell(counts: Sequence[int]) -> str:
    return " ".join(map(str, counts)) if any(counts) else "–"


def _top_name(disagreement: Disagreement) -> str:
    return disagreement.top[0] if len(disagreement.top) == 1 else "the top"


def _weight_cells(estimate: Estimate) -> list[str]:
    if estimate.value is None or estimate.low is None:
        return [format_number(estimate.value, 3, missing="undefined"), "–"]
    if estimate.low == estimate.high:
        return [f"{estimate.value:g}", "–"]
    digits = min(estimate.decimals + 1, 4)
    return [format_number(estimate.value, digits), format_interval(estimate.low, estimate.high, digits)]


def _weight_with_interval(estimate: Estimate) -> str:
    value, interval = _weight_cells(estimate)
    return value if interval == "–" else f"{value} ({interval})"


def disagreement_csv(
    disagreement: Disagreement, by: str | None, cross_evaluation: MutualEvaluation | None = None
) -> Grid:
    """Every p and weight, of all labels and of each stratum, a row each, with every digit."""
    rows = []
    for name, stratum in {"": disagreement, **disagreement.strata}.items():
        for level, label in zip(stratum.levels, stratum.labels, strict=True):
            for statistic, estimate in (("p", stratum.p[level]), ("weight", stratum.weights[level])):
                rows.append(
                    [
                        name,
                        level,
                        str(label),
                        statistic,
                        *exact_estimate(estimate, NUMBER_FIELDS),
                        str(stratum.cases[level]),
                    ]
                )
    for check in disagreement.verified:
        label_text = str(disagreement.labels[disagreement.levels.index(check.level)])
        for statistic, estimate in (("experimental", check.experimental), ("predicted", check.predicted)):
            statistic_name = f"{statistic} {'/'.join(map(str, check.at_least))}"
            rows.append(["", check.level, label_text, statistic_name, *exact_estimate(estimate, NUMBER_FIELDS), ""])
    for measure, mean, sd, queries, _ in [] if cross_evaluation is None else cross_evaluation.table.rows():
        for statistic, number in (("mean", mean), ("sd", sd)):
            value = "" if number is None else str(number)
            rows.append(["", "", "", f"mutual {measure}, {statistic}", value, "", "", "", str(queries), ""])
    group_column = by if by is not None else "stratum"
    return Grid(columns=[group_column, "level", "label", "statistic", *NUMBER_FIELDS, "cases"], rows=rows)
