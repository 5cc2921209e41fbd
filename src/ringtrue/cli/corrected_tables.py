"""Corrected measures as tables: what bronze says, what gold would say, and what the gold labels say alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtrue.cli.comparison_tables import flat_row, mark, named_ranges, shown_difference, shown_p
from ringtrue.cli.output import Grid, estimate_column, signed
from ringtrue.results import Comparison, Comparisons, Estimate

if TYPE_CHECKING:
    from ringtrue.correction import Correction

__all__ = ["answer", "comparisons", "doubts", "flat", "flat_comparisons"]

FEW_PAIRS = 10  # of one measure: more are shown run by run
FEW_SENTENCES = 4
FLAT = ("naive_difference", "naive_p")
FIELDS = ("value", "se", "low", "high", "level", "n", "method")
COUNTED = {"difference": "gold labels", "gold only": "gold labels", "difference, whole queries": "gold queries"}
ABOUT = {"these": "these queries", "like-these": "queries like these"}


def answer(found: Correction) -> list[Grid]:
    """A table for each measure, and one with the checks."""
    return [*(_measure(found, name) for name in found.methods), _checks(found)]


def _measure(found: Correction, name: str) -> Grid:
    best_first = sorted(found.corrected, key=lambda run: -_value(found, run, name))
    ours = [found.corrected[run][name] for run in best_first]
    level = f"{ours[0].level * 100:g}% interval"
    columns = {
        "bronze says": ["–" if one.value is None else f"{one.value:.4f}" for one in
                        (found.raw[run][name] for run in best_first)],
        "corrected": [_number(one) for one in ours],
        level: [_interval(one) for one in ours],
    }  # fmt: skip
    if found.gold_only:
        columns["gold alone"] = estimate_column([found.gold_only[run][name] for run in best_first])
        counted = "gold queries" if found.design == "whole_queries" else "gold labels"
        columns[counted] = [str(one.n) for one in ours]
    return Grid(
        columns=["run", *columns],
        rows=[[run, *row] for run, row in zip(best_first, zip(*columns.values(), strict=True), strict=True)],
        caption=f"{found.methods[name]}\nthe interval is for {ABOUT[found.population]}",
    )


def _number(one: Estimate) -> str:
    return "–" if one.value is None else f"{one.value:.{one.decimals + 1}f}".replace("-", "−")


def _interval(one: Estimate) -> str:
    if one.low is None or one.high is None:
        return "–"
    return f"{one.low:.{one.decimals + 1}f} to {one.high:.{one.decimals + 1}f}".replace("-", "−")


def _value(found: Correction, run: str, name: str) -> float:
    one = found.corrected[run][name]
    return -1e300 if one.value is None else one.value


def _checks(found: Correction) -> Grid:
    rows = [["ok" if check.passed else "look", check.name, check.text,
             "–" if check.p_value is None else f"{check.p_value:.2g}"] for check in found.checks]  # fmt: skip
    caption = [_judge(found)]
    if any(not check.passed and check.name.startswith("accuracy") for check in found.checks):
        caption.append("where accuracy differs, rates measured on one part do not hold for another; the difference "
                       "estimator does not need them to")  # fmt: skip
    return Grid(columns=["", "check", "found", "p"], rows=rows, caption="\n".join(filter(None, caption)), left=3)


def _judge(found: Correction) -> str:
    judge = found.judge
    if "relevant" not in judge:
        return ""
    told = []
    for kind, name in (("relevant", "relevant"), ("nonrelevant", "other")):
        one = judge[kind]
        if isinstance(one, dict) and one["value"] is not None:
            told.append(f"{one['value']:.0%} of {name} documents ({one['low']:.0%} to {one['high']:.0%})")
    return f"bronze is right on {' and '.join(told)}" if told else ""


def flat(found: Correction) -> Grid:
    """Every estimate with every digit."""
    tables = {"raw": found.raw, "corrected": found.corrected, "gold_only": found.gold_only}
    rows = [
        [run, name, what, *_fields(one)]
        for what, table in tables.items()
        for run, row in table.items()
        for name, one in row.items()
    ]
    return Grid(columns=["run", "measure", "estimate", *FIELDS], rows=rows)


def _fields(one: Estimate) -> list[str]:
    known = one.as_dict()
    return ["" if known[key] is None else str(known[key]) for key in FIELDS]


def doubts(found: Correction) -> list[str]:
    """What is doubtful about single corrected values, the same doubt told once."""
    told: dict[str, list[str]] = {}
    for run, row in found.corrected.items():
        for name, one in row.items():
            for note in one.notes:
                told.setdefault(note, []).append(f"{name} of {run}")
    return [f"{who[0]}{f' and {len(who) - 1} more' if len(who) > 1 else ''}: {note}" for note, who in told.items()]


def comparisons(found: Comparisons, layout: str | None) -> Grid:
    """The comparisons pair by pair, or where there are many, by run the ones that each beats."""
    measures = len({one.measure for one in found})
    if layout == "runs" or (layout is None and len(found) > FEW_PAIRS * measures):
        return _by_run(found)
    rows = [
        [one.measure, one.a, one.b, *_naive(one), *shown_difference(one), shown_p(one.p_value),
         shown_p(one.p_adjusted), mark(one), str(one.difference.n)]
        for one in found
    ]  # fmt: skip
    level = f"{found.level * 100:g}% interval"
    return Grid(
        columns=[
            "measure",
            "a",
            "b",
            "bronze a − b",
            "bronze p",
            "corrected a − b",
            level,
            "p",
            "adjusted",
            "",
            "gold",
        ],
        rows=rows,
        caption="\n".join([*_caption(found), *_sentences(found)]),
        left=3,
    )


def _naive(one: Comparison) -> list[str]:
    naive = one.naive or one
    value = naive.difference.value
    return ["–" if value is None else signed(value, 4), shown_p(naive.p_value)]


def _caption(found: Comparisons) -> list[str]:
    changed = sum("labels as they are" in note for one in found for note in one.notes)
    told = [f"{changed:,} of {len(found):,} verdicts change by correction"] if changed else []
    return [
        f"p: {found.test}; adjusted: {found.family}",
        f"▲ a is better, ▼ a is worse: adjusted p < {1 - found.level:.3g}; no mark: not decided",
        *told,
    ]


def _sentences(found: Comparisons) -> list[str]:
    if len(found) > FEW_SENTENCES:
        return []
    return ["", *(f"{one.measure}: {_sentence(one)}" for one in found)]


def _sentence(one: Comparison) -> str:
    more = f"; {'; '.join(one.notes)}" if one.notes else ""
    if one.better is None:
        return f"{one.a} or {one.b}? {'; '.join(one.notes) or 'not decided'}"
    worse = one.b if one.better == one.a else one.a
    return f"{one.better} is better than {worse}{more}"


def _by_run(found: Comparisons) -> Grid:
    measures = list(dict.fromkeys(one.measure for one in found))
    runs = list(dict.fromkeys(run for one in found for run in (one.a, one.b)))
    number = {run: place for place, run in enumerate(runs, start=1)}
    beats: dict[tuple[str, str], list[int]] = {}
    for one in found:
        if one.better is not None:
            worse = one.b if one.better == one.a else one.a
            beats.setdefault((one.measure, one.better), []).append(number[worse])
    rows = [
        [str(number[run]), run, *(named_ranges(sorted(beats.get((measure, run), []))) for measure in measures)]
        for run in sorted(runs, key=lambda run: -len(beats.get((measures[0], run), [])))
    ]
    caption = ["better than: by number in this table; --layout pairs shows every comparison", *_caption(found)]
    return Grid(columns=["nr", "run", *(f"better than ({name})" for name in measures)], rows=rows,
                caption="\n".join(caption), left=2)  # fmt: skip


def flat_comparisons(found: Comparisons) -> Grid:
    """Every comparison with every digit, and the one by bronze beside it."""
    columns, rows = flat_row(None), []
    for one in found:
        naive = one.naive or one
        rows.append([*flat_row(one), *("" if x is None else str(x) for x in (naive.difference.value, naive.p_value))])
    return Grid(columns=[*columns, *FLAT], rows=rows)
