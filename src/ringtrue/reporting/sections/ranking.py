"""Which runs can be told apart? All pairs at once, and letters for those that cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ringtrue.grids import Grid, estimate_column, signed
from ringtrue.reporting.content import Figure, Forest, Section, Series
from ringtrue.reporting.material import Material
from ringtrue.reporting.sections.telling import ends, listed, minus, p_told
from ringtrue.reporting.standing import compared, order, values
from ringtrue.results import Comparison, Comparisons, Estimate
from ringtrue.significance import alike, lettered
from ringtrue.wording import counted

__all__ = ["FIGURES", "NEEDS", "TITLE", "level_of_last_step", "section"]

TITLE = "Which runs can be told apart?"
NEEDS = "two runs or more, and judgments"
FIGURES = {"ranking": "Which runs can be told from the best, and from each other?"}
SHOWN = 25  # runs in the chart
NEAR_TOP = 5
SUREST = 0.999999
Pairs = Mapping[tuple[str, str], Comparison]


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
        table=_table(material, behind, pairs, letters), notes=_notes(names, pairs, letters),
    )  # fmt: skip
    return Section(name="ranking", title=TITLE, answer=_answer(names, pairs, found), figures=(figure,),
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
    from ringtrue.correction import compare_corrected
    from ringtrue.significance import compare
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


def _alike_the_best(names: Sequence[str], pairs: Pairs) -> list[str]:
    return [run for run in names[1:] if not pairs[names[0], run].decided]


def _answer(names: Sequence[str], pairs: Pairs, found: Comparisons) -> str:
    best, alike_it = names[0], _alike_the_best(names, pairs)
    if len(names) == 2:
        return _of_two(pairs[best, names[1]])
    beaten = len(names) - 1 - len(alike_it)
    if not alike_it:
        return f"{best} is better than each of the other {beaten} runs."
    first = f"{best} is first and better than {beaten} of the others" if beaten else f"{best} is first"
    cannot = f"{listed(alike_it)} cannot be told from it"
    decided = sum(one.decided for one in found)
    apart = "none is" if not decided else "1 is" if decided == 1 else f"{decided:,} are"
    return f"{first}; {cannot}. Of {len(found):,} pairs of runs, {apart} told apart."


def _of_two(one: Comparison) -> str:
    if one.difference.value is None or one.p_adjusted is None:
        return f"{one.a} and {one.b} cannot be compared: {'; '.join(one.notes)}."
    by = f"{one.a} − {one.b} is {ends(one.difference, _digits(one))}, {p_told(one.p_adjusted)}"
    if one.decided:
        return f"{one.better or one.a} is better than {one.b if one.better == one.a else one.a}: {by}."
    return f"{one.a} and {one.b} cannot be told apart: {by}."


def _sentence(names: Sequence[str], pairs: Pairs, found: Comparisons, material: Material) -> str:
    best, second = names[0], names[1]
    among = f", also as one of {len(found):,} pairs" if len(found) > 1 else ""
    parts = [f"A dot is how far a run lies behind {best}. Where its line misses 0, the difference is decided{among}."]
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
    told = [f"{a} over {b}" for a, b in every if pairs[a, b].decided]
    where = f"Of the {len(every)} pairs among the first {len(names)} runs"
    if not told:
        return f"{where} none is decided."
    return f"{where} {len(told)} {'is' if len(told) == 1 else 'are'} decided: {listed(told)}."


def _notes(names: Sequence[str], pairs: Pairs, letters: Mapping[str, str]) -> tuple[str, ...]:
    notes = []
    alone = [one for one in names[1:] if (two := pairs[names[0], one]).p_value is not None and not two.decided
             and two.p_value < round(1 - two.difference.level, 12)]  # fmt: skip
    if alone:
        notes.append(
            f"looked at alone, the best would also be better than {listed(alone)}; among so many pairs, chance alone "
            f"shows such differences"
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


def _table(
    material: Material, behind: Mapping[str, Estimate], pairs: Pairs, letters: Mapping[str, str]
) -> Grid:  # fmt: skip
    names, means = list(letters), values(material)
    best, level = names[0], behind[names[0]].level
    levels = ["–"] * len(names) if means is None else estimate_column([means[run][material.measure] for run in names])
    rows = [
        [str(place), run, letters[run], value, *(["–"] * 4 if run == best else _against(behind[run], pairs[run, best]))]
        for place, (run, value) in enumerate(zip(names, levels, strict=True), start=1)
    ]
    corrected = ", corrected" if material.gold is not None else ""
    return Grid(
        columns=["", "run", "group", material.measure, "to the best", "interval", "p", "adjusted p"], rows=rows, left=3,
        caption=f"{material.measure}{corrected}, ± half of the {material.level:.0%} interval; to the best: the "
                f"difference to {best}; interval: of level {level * 100:.6g}%, which misses 0 just where adjusted p is "
                f"below {1 - material.level:.3g}; p: of that pair alone; adjusted p: as one of all pairs",
    )  # fmt: skip


def _against(drawn: Estimate, one: Comparison) -> list[str]:
    if drawn.value is None:
        return ["–"] * 4
    digits = drawn.decimals + 1 if drawn.se else 4
    low, high = drawn.low, drawn.high
    interval = "–" if low is None or high is None else f"{signed(low, digits)} to {signed(high, digits)}"
    shown = ["–" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}" for p in (one.p_value, one.p_adjusted)]
    return [signed(drawn.value, digits), interval, *shown]
