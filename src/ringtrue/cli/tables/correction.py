"""Corrected measures as tables: what bronze says, what gold would say, and what the gold labels say alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtrue.cli.output import Grid, estimate_column, signed
from ringtrue.cli.tables.comparisons import flat_row, mark, named_ranges, shown_difference, shown_p
from ringtrue.stats.results import Comparison, Comparisons, Estimate

if TYPE_CHECKING:
    from ringtrue.gold.correction import Correction
    from ringtrue.gold.correction.joint_estimate import Population

__all__ = ["answer", "comparisons", "flat", "flat_comparisons"]

FEW_PAIRS = 10  # of one measure: more are shown run by run
FEW_SENTENCES = 4
FLAT = ("naive_difference", "naive_p")
FIELDS = ("value", "se", "low", "high", "level", "n", "method")
COUNTED = {
    "difference": ("gold labels", "gold labels: on documents that the two do not share"),
    "difference, whole queries": ("gold queries", "gold queries: that gold judged"),
    "gold only": ("gold labels", "gold labels: on documents that the two do not share"),
    "gold only, whole queries": ("gold queries", "gold queries: that gold judged"),
}
ABOUT = {"these": "these queries", "like-these": "queries like these"}


def answer(found: Correction) -> list[Grid]:
    """A table for each measure, and one with the checks if any were made."""
    return [*(_measure(found, name) for name in found.methods), *([_checks(found)] if found.checks else [])]


def _measure(found: Correction, name: str) -> Grid:
    best_first = sorted(found.corrected, key=lambda run: -_value(found, run, name))
    ours = [found.corrected[run][name] for run in best_first]
    level = f"{ours[0].level * 100:g}% interval"
    digits = max([one.decimals + 1 for one in ours if one.se], default=3)
    columns = {
        "bronze says": ["–" if one.value is None else f"{one.value:.4f}" for one in
                        (found.raw[run][name] for run in best_first)],
        "corrected": ["–" if one.value is None else _number(one.value, digits) for one in ours],
        level: [_interval(one, digits) for one in ours],
    }  # fmt: skip
    if found.gold_only:
        columns["gold alone"] = estimate_column([found.gold_only[run][name] for run in best_first])
        counted = "gold queries" if found.design == "whole_queries" else "gold labels"
        columns[counted] = [str(one.n) for one in ours]
    return Grid(
        columns=["run", *columns],
        rows=[[run, *row] for run, row in zip(best_first, zip(*columns.values(), strict=True), strict=True)],
        caption=f"{found.methods[name]}\nthe interval is for {_about(ours[0], found.population)}",
    )


def _about(one: Estimate, population: Population) -> str:
    """What the interval is about: rates from elsewhere allow one for queries like these only."""
    return ABOUT[population if one.method.startswith(("difference", "gold only")) else "like-these"]


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _interval(one: Estimate, digits: int) -> str:
    if one.low is None or one.high is None:
        return "–"
    return f"{_number(one.low, digits)} to {_number(one.high, digits)}"


def _value(found: Correction, run: str, name: str) -> float:
    one = found.corrected[run][name]
    return -1e300 if one.value is None else one.value


def _checks(found: Correction) -> Grid:
    """What was looked at, and below it what follows where something gives reason to doubt."""
    rows, caption = [], [_judge(found)]
    for check in found.checks:
        told, _, doubt = check.text.partition(": ")
        rows.append(["ok" if check.passed else "look", check.name, told,
                     "–" if check.p_value is None else f"{check.p_value:.2g}"])  # fmt: skip
        caption += [f"{check.name}: {doubt}"] if doubt else []
    if any(not check.passed and check.name.startswith("accuracy") for check in found.checks):
        caption.append("accuracy that differs: rates measured on one part do not hold for another, and the difference "
                       "estimator needs none")  # fmt: skip
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


def comparisons(found: Comparisons, layout: str | None, population: Population) -> Grid:
    """The comparisons pair by pair, or where every run is compared with many, by run the ones that each beats."""
    measures = len({one.measure for one in found})
    runs = len({run for one in found for run in (one.a, one.b)})
    every_pair = len(found) == measures * runs * (runs - 1) // 2
    if layout == "runs" or (layout is None and every_pair and len(found) > FEW_PAIRS * measures):
        return _by_run(found, population)
    counted, marked = COUNTED.get(found[0].difference.method), any(map(_mark, found))
    rows = [
        [one.measure, one.a, one.b, *_naive(one), *shown_difference(one), shown_p(one.p_value),
         shown_p(one.p_adjusted), *([_mark(one)] if marked else []), *([str(one.difference.n)] if counted else [])]
        for one in found
    ]  # fmt: skip
    columns = ["measure", "a", "b", "bronze a − b", "bronze p", "corrected a − b", f"{found.level * 100:g}% interval",
               "p", "adjusted", *([""] if marked else []), *([counted[0]] if counted else [])]  # fmt: skip
    signs = [f"▲ a is better, ▼ a is worse: adjusted p < {1 - found.level:.3g}; no mark: not decided"]
    told = [
        *_caption(found, population),
        *(signs if marked else []),
        *([counted[1]] if counted else []),
        *_sentences(found),
    ]
    return Grid(columns=columns, rows=rows, caption="\n".join(told), left=3)


def _naive(one: Comparison) -> list[str]:
    naive = one.naive or one
    value = naive.difference.value
    return ["–" if value is None else signed(value, 4), shown_p(naive.p_value)]


def _mark(one: Comparison) -> str:
    return "" if one.difference.value is None else mark(one)


def _caption(found: Comparisons, population: Population) -> list[str]:
    changed = sum("labels as they are" in note for one in found for note in one.notes)
    told = [f"{changed:,} of {len(found):,} verdicts change by correction"] if changed else []
    return [
        f"a − b: as gold would have it, for {_about(found[0].difference, population)}; interval for one pair alone",
        f"p: {found.test}; adjusted: {found.family}",
        *told,
    ]


def _sentences(found: Comparisons) -> list[str]:
    """The answer in words where there are few; what is to be said of every pair is said first, once."""
    if len(found) > FEW_SENTENCES:
        return _undecided(found)
    common = [note for note in found[0].notes if len(found) > 1 and all(note in one.notes for one in found)]
    return ["", *common, *(line for one in found for line in _sentence(one, common))]


def _undecided(found: Comparisons) -> list[str]:
    undecided = sum(one.better is None for one in found)
    return [f"not decided: {undecided:,} of {len(found):,} comparisons"] if undecided else []


def _sentence(one: Comparison, said: Sequence[str]) -> list[str]:
    """Who is better, or why that cannot be told; the notes below it."""
    notes = [note for note in one.notes if note not in said]
    d = one.difference
    if one.better is None:
        why = next((note for note in notes if note.startswith("not decided")), None)
        if d.value is None and notes:
            why = notes[0]
        head = f"{one.a} or {one.b}? {why or 'not decided'}"
        notes = [note for note in notes if note != why]
    else:
        head = f"{one.better} is better than {one.b if one.better == one.a else one.a}"
        if d.low is not None and d.high is not None and d.low * d.high > 0:
            near, far = sorted((abs(d.low), abs(d.high)))
            head += f", by {near:.{d.decimals + 1}f} to {far:.{d.decimals + 1}f}"
    return [f"{one.measure}: {head}", *(f"  {note}" for note in notes)]


def _by_run(found: Comparisons, population: Population) -> Grid:
    """The runs, best first by their corrected differences from the others, and by number those that each beats."""
    measures = list(dict.fromkeys(one.measure for one in found))
    ahead: dict[str, list[float]] = {}
    for one in found:
        for run, sign in ((one.a, 1), (one.b, -1)):
            ahead.setdefault(run, [])
            if one.measure == measures[0] and one.difference.value is not None:
                ahead[run].append(sign * one.difference.value)
    # Rounded, so that runs that are alike keep the order in which they were given.
    best_first = sorted(ahead, key=lambda run: -round(sum(ahead[run]) / max(len(ahead[run]), 1), 9))
    number = {run: place for place, run in enumerate(best_first, start=1)}
    beats: dict[tuple[str, str, bool], list[int]] = {}
    for one in found:
        if one.better is not None:
            worse = one.b if one.better == one.a else one.a
            beats.setdefault((one.measure, one.better, True), []).append(number[worse])
            beats.setdefault((one.measure, worse, False), []).append(number[one.better])
    sides = {"better than": True, "worse than": False}
    heads = [(measure, side) for measure in measures for side in sides]
    rows = [
        [str(number[run]), run,
         *(named_ranges(sorted(beats.get((measure, run, sides[side]), []))) for measure, side in heads)]
        for run in best_first
    ]  # fmt: skip
    several = len(measures) > 1
    caption = [
        f"better and worse: by number in this table, adjusted p < {1 - found.level:.3g}",
        f"best first by {measures[0]}: mean corrected difference from the others; --layout pairs shows each",
        *_caption(found, population),
        *_undecided(found),
    ]
    return Grid(columns=["nr", "run", *(f"{side} ({measure})" if several else side for measure, side in heads)],
                rows=rows, caption="\n".join(caption), left=2)  # fmt: skip


def flat_comparisons(found: Comparisons) -> Grid:
    """Every comparison with every digit, and the one by bronze beside it."""
    columns, rows = flat_row(None), []
    for one in found:
        naive = one.naive or one
        rows.append([*flat_row(one), *("" if x is None else str(x) for x in (naive.difference.value, naive.p_value))])
    return Grid(columns=[*columns, *FLAT], rows=rows)
