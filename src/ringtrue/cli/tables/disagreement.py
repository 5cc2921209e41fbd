"""Disagreement between users as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtrue.cli.output import Grid, estimate_column
from ringtrue.formatting.phrases import counted
from ringtrue.judges.disagreement.disagree import FEW_CASES
from ringtrue.stats.estimate_cells import intervals_told

if TYPE_CHECKING:
    from ringtrue.judges.disagreement import Consistency, Disagreement, MutualEvaluation
    from ringtrue.stats.results import Estimate

__all__ = ["flat", "grids"]


def grids(
    found: Disagreement, by: str | None, output: str | None, each_other: MutualEvaluation | None = None
) -> list[Grid]:
    """Everything that a person may want to read, the answer last."""
    made = [] if each_other is None else [_mutual(each_other)]
    if found.verified:
        made.append(_verified(found))
    if found.consistency is not None:
        made.append(_consistency(found, found.consistency))
    if found.strata:
        made.append(_strata(found, by or ""))
    return [*made, _weights(found, output)]


def _mutual(found: MutualEvaluation) -> Grid:
    pairs = set(found.judges.values())
    two = " and ".join(next(iter(pairs))) if len(pairs) == 1 else "the two judges with the most documents in common"
    return Grid(
        columns=["measure", "mean", "sd", "queries", "left out"],
        rows=[
            [measure, *("–" if one is None else f"{one:.3f}" for one in (mean, sd)), f"{queries:,}", f"{left_out:,}"]
            for measure, mean, sd, queries, left_out in found.table.rows()
        ],
        caption=f"In each query, the order by one of {two} scored by the other's labels, both ways; weights from the "
        "other queries.\n1 would be a measure for which it does not matter whose labels it uses. exp: gains of "
        "2^level − 1; zipf: discount 1/rank;\nM/N: weights for at least M of N users; left out: nothing of worth in "
        "the query, or a label that no other query has",
    )


def _weights(found: Disagreement, output: str | None) -> Grid:
    level = next(iter(found.p.values())).level
    interval = f"{level * 100:g}% interval"
    rows = [
        [
            name,
            _bracketed(found.cases[name]),
            f"{found.p[name].n:,}",
            *_cells(found.p[name]),
            *_cells(found.weights[name]),
        ]
        for name in found.levels
    ]
    least, users = found.at_least
    top = _top(found)
    size = (
        f"{counted(found.votes, 'label')} by {counted(found.judges, 'judge')} of {counted(found.documents, 'document')}"
        f"{f' in {found.queries:,} queries' if found.queries > 1 else ''} with {found.min_labels} labels or more"
    )
    lines = [
        f"{size}\np: another user says {top}, given this label; cases: pairs of labels behind p",
        *_flags(found),
        "",
        f"Weight: the chance that at least {least} of {counted(users, 'user')} say{'s' * (users == 1)} {top}, "
        + f"one of whom gave this label. {_worth(found)}".rstrip(),
        _next(output),
    ]
    return Grid(
        columns=["label", "cases", "documents", f"p({top} | label)", interval, f"weight {least}/{users}", interval],
        rows=rows,
        caption="\n".join(lines),
    )


def _flags(found: Disagreement) -> list[str]:
    """The flags together: of combined levels there may be many."""
    few = [name for name, cases in found.cases.items() if 0 < cases < FEW_CASES]
    never = [name for name, cases in found.cases.items() if not cases]
    lines = [f"fewer than {FEW_CASES} cases, p is not accurate: {', '.join(few)}"] if few else []
    return lines + ([f"never seen, p is undefined: {', '.join(never)}"] if never else [])


def _worth(found: Disagreement) -> str:
    """The levels in between in a few words: they are what the model is about."""
    middle = [
        f"{name} for {one.value:.2f}"
        for name, one in found.weights.items()
        if one.value is not None and one.method != "lowest level"
    ]
    return f"So a label counts: {', '.join(middle)}." if 0 < len(middle) <= 5 else ""


def _next(output: str | None) -> str:
    if output is None:
        return "-o gains.json writes the weights as gains, which evaluate --gains takes"
    return f"written to {output}; next: ringtrue evaluate RUN… --judgments FILE --gains {output} -m nDCG@10"


def _strata(found: Disagreement, by: str) -> Grid:
    parts = list(found.strata.items())
    columns: list[str] = []
    cells: list[Sequence[str]] = []
    shares: list[Sequence[str]] = []
    for name in found.levels:
        columns += [f"p given {name}", "cases"]
        shares.append(estimate_column([part.p[name] for _, part in parts]))
        cells.append(shares[-1])
        cells.append([_bracketed(part.cases[name]) for _, part in parts])
    rows = [
        [name, f"{part.documents:,}", *row] for (name, part), row in zip(parts, zip(*cells, strict=True), strict=True)
    ]
    return Grid(
        columns=[by, "documents", *columns],
        rows=rows,
        caption=f"p: another user says {_top(found)}, given a label{intervals_told(shares)}\n"
        f"cases in brackets: fewer than {FEW_CASES}, p is not accurate; --json has the weights of each",
    )


def _bracketed(cases: int) -> str:
    return f"({cases})" if cases < FEW_CASES else f"{cases:,}"


def _verified(found: Disagreement) -> Grid:
    rows = []
    for one in found.verified:
        apart = _apart(one.experimental, one.predicted)
        share = "/".join(map(str, one.at_least))
        rows.append([share, one.level, f"{one.experimental.n:,}", _with_ends(one.experimental),
                     _with_ends(one.predicted), apart])  # fmt: skip
    return Grid(
        columns=["at least", "label", "documents", "experimental", "predicted", "differ by"],
        rows=rows,
        caption="experimental: over all ways to draw N labels of a document, one of them this label\n"
        "predicted: by p alone, as if documents with this label were all alike",
        left=2,
    )


def _apart(one: Estimate, other: Estimate) -> str:
    if one.value is None or other.value is None:
        return "–"
    return f"{one.value - other.value:+.3f}".replace("-", "−")


def _consistency(found: Disagreement, again: Consistency) -> Grid:
    top = _top(found)
    rows = [
        [f"{top} given {name}", _with_ends(again.within[name]), _with_ends(again.across[name])] for name in found.levels
    ]
    rows.append([f"overlap of {top}", _with_ends(again.overlap_within), _with_ends(again.overlap_across)])
    rows.append([f"judges by p({top} | {top})", _binned(again.by_judge.within), _binned(again.by_judge.across)])
    rows.append(
        [f"documents by p({top} | {top})", _binned(again.by_document.within), _binned(again.by_document.across)]
    )
    return Grid(
        columns=["label again", "by the same judge", "by another judge"],
        rows=rows,
        caption=f"on {counted(again.documents, 'document')} that some judge labelled again; the last two rows: "
        f"how many have a p in each tenth from 0 to 1\n{_verdict(found, again)}".rstrip("\n"),
    )


def _verdict(found: Disagreement, again: Consistency) -> str:
    own, cross = again.overlap_within, again.overlap_across
    if None in (own.low, own.high, cross.low, cross.high):
        return ""
    if (own.low or 0) > (cross.high or 0):
        return "Judges agree with themselves more than with each other: users differ, beyond mere carelessness."
    if (own.high or 0) < (cross.low or 0):
        return "Judges agree with each other more than with themselves: their repeats deserve a look."
    return f"It cannot be told whether judges agree on {_top(found)} with themselves more than with each other."


def _binned(counts: Sequence[int]) -> str:
    return " ".join(map(str, counts)) if any(counts) else "–"


def _top(found: Disagreement) -> str:
    return found.top[0] if len(found.top) == 1 else "the top"


def _cells(one: Estimate) -> list[str]:
    if one.value is None:
        return ["undefined", "–"]
    if one.low is None or one.high is None:
        return [f"{one.value:.3f}", "–"]
    if one.low == one.high:
        return [f"{one.value:g}", "–"]
    digits = min(one.decimals + 1, 4)
    return [f"{one.value:.{digits}f}", f"{one.low:.{digits}f} to {one.high:.{digits}f}"]


def _with_ends(one: Estimate) -> str:
    if one.value is None:
        return "undefined"
    value, ends = _cells(one)
    return value if ends == "–" else f"{value} ({ends})"


def flat(found: Disagreement, by: str | None, each_other: MutualEvaluation | None = None) -> Grid:
    """Every p and weight, of all labels and of each stratum, a row each, with every digit."""
    rows = []
    for name, part in {"": found, **found.strata}.items():
        for level, label in zip(part.levels, part.labels, strict=True):
            for what, one in (("p", part.p[level]), ("weight", part.weights[level])):
                rows.append([name, level, str(label), what, *_digits(one), str(part.cases[level])])
    for check in found.verified:
        number = str(found.labels[found.levels.index(check.level)])
        for what, one in (("experimental", check.experimental), ("predicted", check.predicted)):
            words = f"{what} {'/'.join(map(str, check.at_least))}"
            rows.append(["", check.level, number, words, *_digits(one), ""])
    for measure, mean, sd, queries, _ in [] if each_other is None else each_other.table.rows():
        for what, number in (("mean", mean), ("sd", sd)):
            value = "" if number is None else str(number)
            rows.append(["", "", "", f"mutual {measure}, {what}", value, "", "", "", str(queries), ""])
    first = by if by is not None else "stratum"
    return Grid(columns=[first, "level", "label", "statistic", "value", "se", "low", "high", "n", "cases"], rows=rows)


def _digits(one: Estimate) -> list[str]:
    return ["" if number is None else str(number) for number in (one.value, one.se, one.low, one.high, one.n)]
