"""Which runs can be told apart? All pairs at once, and letters for those that cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ringtrue.evaluation.significance import alike, lettered
from ringtrue.formatting.grid import Grid, signed
from ringtrue.formatting.phrases import counted
from ringtrue.report.inputs import Material
from ringtrue.report.limits import SHOWN
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.run_order import (
    SAME,
    Pairs,
    all_of,
    at_odds,
    compared,
    known_intervals,
    leaders,
    order,
    strengths,
    values,
)
from ringtrue.report.sections.number_phrases import capital, ends, listed, minus, p_told
from ringtrue.stats.estimate_cells import estimate_column, intervals_told
from ringtrue.stats.results import Comparison, Comparisons, Estimate

__all__ = ["FIGURES", "NEEDS", "TITLE", "level_of_last_step", "section"]

TITLE = "Which runs can be told apart?"
NEEDS = "two runs or more, and judgments"
FIGURES = {"ranking": "Which runs can be told from the best, and from each other?"}
NEAR_TOP = 5
SUREST = 0.999999
DECIDED = "the difference is decided"
GO_BY = "a difference is worked out for the two together, and is the one to go by"
BY_CHANCE = "among so many pairs, chance alone shows such differences"


def section(material: Material) -> Section | None:
    """The runs in order, how far each lies behind the best, and the groups that are not told apart."""
    found = material.comparisons
    if found is None:
        return None
    names, pairs = order(material), compared(material)
    best = names[0]
    letters = dict(zip(names, _letters(names, pairs), strict=True))
    behind = _behind(material, found, best)
    shown = names[:SHOWN]
    chart = Forest(
        names=shown, across=f"{material.measure}: difference to {best}", at=0.0, marks_title="group",
        marks=tuple(letters[run] for run in shown),
        series=(Series(name="difference to the best", values=tuple(behind[run] for run in shown)),),
    )  # fmt: skip
    figure = Figure(
        name="ranking", title=FIGURES["ranking"], sentence=_sentence(names, pairs, found, material), charts=(chart,),
        table=_table(material, behind, pairs, letters),
        notes=(*_notes(names, pairs, letters), *_beside_values(names, pairs, material)),
    )  # fmt: skip
    first = leaders(strengths(material))
    return Section(name="ranking", title=TITLE, answer=_answer(names, first, pairs, found), figures=(figure,),
                   notes=(f"p: {found.test}; adjusted: {found.family}", *found.notes))  # fmt: skip


def level_of_last_step(found: Comparisons) -> float:
    """The level of an interval that misses 0 just where Holm's procedure decides.

    Of m comparisons it decides k, those with p below α/(m − k); so an interval of level 1 − α/(m − k) for each says the
    same as the procedure about all.
    """
    tested = [one for one in found if one.p_adjusted is not None]
    left = max(len(tested) - sum(one.decided for one in tested), 1)
    return min(1 - (1 - found.level) / left, SUREST)


def _letters(names: Sequence[str], pairs: Pairs) -> list[str]:
    differ = np.array([[a != b and pairs[a, b].decided for b in names] for a in names], dtype=bool)
    return lettered(alike(differ), len(names))


def _behind(material: Material, found: Comparisons, best: str) -> dict[str, Estimate]:
    """Each run minus the best, with an interval that misses 0 just where the difference is decided."""
    from ringtrue.evaluation.significance import compare
    from ringtrue.gold.correction import compare_corrected
    from ringtrue.tables import Scores

    level = level_of_last_step(found)
    how: dict[str, Any] = {"baselines": best, "adjust": "none", "level": level, "rng": material.rng("comparisons")}
    if material.gold is None:
        assert material.scores is not None
        against = compare(Scores(material.scores.frame.filter(measure=material.measure)), **how)
    else:
        against = compare_corrected(
            material.runs, material.judgments, material.gold, material.measures[0], **how, **material.correcting
        )
    turned = [one if one.b == best else one.turned() for one in against]
    itself = Estimate(value=0.0, level=level, n=turned[0].difference.n, method="itself")
    return {best: itself} | {one.a: one.difference for one in turned}


def _gap(pairs: Pairs, a: str, b: str) -> float:
    """How far a is ahead of b; 0 where that is not known, or only how numbers were added up."""
    return round(pairs[a, b].difference.value or 0.0, SAME)


def _answer(names: Sequence[str], first: Sequence[str], pairs: Pairs, found: Comparisons) -> str:
    best, others = names[0], names[1:]
    if len(names) == 2:
        return _of_two(pairs[best, names[1]])
    if len(first) == len(names):
        return f"{capital(all_of(names))} have the same value."
    beaten = sum(pairs[best, run].better == best for run in others)
    ahead = [run for run in others if pairs[best, run].better == run]
    alike_it = [run for run in others if pairs[best, run].better is None]
    if beaten == len(others):
        return f"{best} is better than each of the other {beaten} runs."
    if len(first) > 1:
        said, it = f"{listed(first)} are first, with the same value", best
        alike_it = [run for run in alike_it if run not in first]
    else:
        said, it = f"{best} is first", "it"
    beats = f"better than {beaten} of the others"
    parts = [
        said if not beaten else f"{said} and {beats}" if len(first) == 1 else f"{said}; {best} is {beats}",
        *([f"{listed(alike_it)} cannot be told from {it}"] if alike_it else []),
        *([f"{listed(ahead)}, compared with {it} alone, {'is' if len(ahead) == 1 else 'are'} better"] if ahead else []),
    ]  # fmt: skip
    decided = sum(one.decided for one in found)
    apart = "none is" if not decided else "1 is" if decided == 1 else f"{decided:,} are"
    return f"{'; '.join(parts)}. Of {len(found):,} pairs of runs, {apart} told apart."


def _of_two(one: Comparison) -> str:
    if one.difference.value is None or one.p_adjusted is None:
        return f"{one.a} and {one.b} cannot be compared: {'; '.join(one.notes)}."
    by = f"{one.a} − {one.b} is {ends(one.difference, _digits(one))}, {p_told(one.p_adjusted)}"
    if one.better is not None:
        return f"{one.better} is better than {one.b if one.better == one.a else one.a}: {by}."
    if round(one.difference.value, SAME) == 0:
        return f"{one.a} and {one.b} have the same value, and cannot be told apart."
    return f"{one.a} and {one.b} cannot be told apart: {by}."


def _sentence(names: Sequence[str], pairs: Pairs, found: Comparisons, material: Material) -> str:
    best, second = names[0], names[1]
    among = f", also as one of {len(found):,} pairs" if len(found) > 1 else ""
    ahead = any(_gap(pairs, best, run) < 0 for run in names[1:])
    side = ", or to the right of 0 how far it lies ahead when the two are compared" if ahead else ""
    parts = [f"A dot is how far a run lies behind {best}{side}.", f"Where its line misses 0, {DECIDED}{among}."]
    if len(names) > 2:
        parts.append("Two runs that share a letter are not told apart.")
        parts.append(_near_the_top(names[:NEAR_TOP], pairs))
    one = pairs[best, second]
    if one.detectable is not None and one.difference.value is not None:
        such = (
            "Labels such as these" if material.gold is not None else counted(one.difference.n, "query") + " like these"
        )
        digits = _digits(one)
        parts.append(
            f"{such} show a difference of {one.detectable:.{digits}f} in 4 of 5 tests of one pair; {best} and {second} "
            f"lie {minus(abs(one.difference.value), digits)} apart."
        )
    if len(names) > SHOWN:
        parts.append(f"The first {SHOWN} of {len(names)} runs are drawn; the table has all.")
    return " ".join(parts)


def _digits(one: Comparison) -> int:
    return one.difference.decimals + 1 if one.difference.se else 4


def _near_the_top(names: Sequence[str], pairs: Pairs) -> str:
    """Which of the first few are told apart."""
    every = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    winners = [(one.better, one) for a, b in every if (one := pairs[a, b]).better is not None]
    told = [f"{better} over {one.b if better == one.a else one.a}" for better, one in winners]
    where = f"Of the {len(every)} pairs among the first {len(names)} runs"
    if not told:
        return f"{where} none is decided."
    return f"{where} {len(told)} {'is' if len(told) == 1 else 'are'} decided: {listed(told)}."


def _notes(names: Sequence[str], pairs: Pairs, letters: Mapping[str, str]) -> tuple[str, ...]:
    notes, best = [], names[0]
    alone = [run for run in names[1:] if (one := pairs[best, run]).p_value is not None and not one.decided
             and one.p_value < round(1 - one.difference.level, 12)]  # fmt: skip
    behind, ahead = ([run for run in alone if sign * _gap(pairs, best, run) > 0] for sign in (1, -1))
    if behind:
        notes.append(f"looked at alone, the best would also be better than {listed(behind)}; {BY_CHANCE}")
    if ahead:
        notes.append(f"looked at alone, {listed(ahead)} would be better than {best}; {BY_CHANCE}")
    stronger = [run for run in names[1:] if _gap(pairs, best, run) < 0]
    if stronger:
        notes.append(
            f"the order is by the differences from all the other runs, and {best} is first by those; compared with it "
            f"alone, {listed(stronger)} {'lies' if len(stronger) == 1 else 'lie'} ahead"
        )
    unknown = [run for run in names[1:] if pairs[names[0], run].p_value is None]
    if unknown:
        notes.append(f"not compared with the best, and so not told apart from it: {listed(unknown)}")
    skipping = [run for run in names[1:] if not set(letters[run]) & set(letters[names[0]])]
    first = names.index(skipping[0]) if skipping else len(names)
    if any(run not in skipping for run in names[first:]):
        notes.append(
            "a run further down may share a letter with the best where one above does not: its queries vary more, and "
            "it takes more to tell it apart"
        )
    return tuple(notes)


def _beside_values(names: Sequence[str], pairs: Pairs, material: Material) -> list[str]:
    """Where differences and the values beside them do not say the same."""
    means, measure = values(material), material.measure
    if means is None:
        return []
    odd = at_odds(means, pairs, measure)
    if odd:
        a, b = min(odd, key=lambda pair: _gap(pairs, *pair))
        one = pairs[a, b]
        of = "1 pair" if len(odd) == 1 else f"{len(odd):,} pairs"
        told = f"{a} has the higher value, and yet lies {minus(-_gap(pairs, a, b), _digits(one))} behind {b}"
        return [f"values and differences disagree about who is ahead for {of} of runs: {told}; {GO_BY}"]
    one, (first, second) = pairs[names[0], names[1]], (means[run][measure].value for run in names[:2])
    gap, digits = one.difference.value, _digits(one)
    if first is None or second is None or gap is None or abs(first - second - gap) < 0.5 * 10**-digits:
        return []
    told = f"{minus(first, digits)} − {minus(second, digits)} stands beside {minus(gap, digits)}"
    return [f"a difference is not quite that of the two values ({told}); {GO_BY}"]


def _table(
    material: Material, behind: Mapping[str, Estimate], pairs: Pairs, letters: Mapping[str, str]
) -> Grid:  # fmt: skip
    names, means = list(letters), values(material)
    best, level = names[0], behind[names[0]].level
    shown = None if means is None else known_intervals(means)
    levels = ["–"] * len(names) if shown is None else estimate_column([shown[run][material.measure] for run in names])
    told = intervals_told([levels], material.level).replace("; ", ", ")
    rows = [
        [str(place), run, letters[run], value, *(["–"] * 4 if run == best else _against(behind[run], pairs[run, best]))]
        for place, (run, value) in enumerate(zip(names, levels, strict=True), start=1)
    ]
    corrected = ", corrected" if material.gold is not None else ""
    return Grid(
        columns=["", "run", "group", material.measure, "to the best", "interval", "p", "adjusted p"], rows=rows, left=3,
        caption=f"{material.measure}{corrected}{told}; to the best: the "
                f"difference to {best}; interval: of level {level * 100:.6g}%, which misses 0 just where adjusted p is "
                f"below {1 - material.level:.3g}; p: of that pair alone; adjusted p: as one of all pairs",
    )  # fmt: skip


def _against(drawn: Estimate, one: Comparison) -> list[str]:
    if drawn.value is None:
        return ["–"] * 4
    digits = drawn.decimals + 1 if drawn.se else 4
    low, high = drawn.low, drawn.high
    interval = "–" if low is None or high is None or low == high else f"{signed(low, digits)} to {signed(high, digits)}"
    shown = ["–" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}" for p in (one.p_value, one.p_adjusted)]
    return [signed(drawn.value, digits), interval, *shown]
