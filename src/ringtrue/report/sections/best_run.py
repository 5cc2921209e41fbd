"""Which run is the best, in a sentence: by the raw labels, corrected and in truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ringtrue.evaluation.measures import Measure
from ringtrue.formatting.phrases import counted
from ringtrue.report.inputs import Material
from ringtrue.report.run_order import Means, all_of, compared, leaders, order, strengths
from ringtrue.report.sections.number_phrases import listed, minus
from ringtrue.stats.results import Estimate

__all__ = ["answer", "impossible"]

UNBOUNDED = ("DCG", "CG", "TP", "FP", "FN", "TN", "NumRet", "NumRel", "NumRelRet")


def answer(kinds: Mapping[str, Means], material: Material) -> str:
    """The best run by each kind of value; where several have the same, all of them."""
    measure, last = material.measure, "corrected" if "corrected" in kinds else "raw"
    names = order(material)
    if len(names) == 1:
        return f"By {measure}, {names[0]} has {_of_one(kinds, names[0], material.measures[0])}."
    first = leaders(strengths(material)) or names[:1]
    by_labels = first if last == "raw" else _best(kinds["raw"], measure)
    parts = [_best_told(kinds, first, by_labels, material), *_at_odds(kinds[last], first[0], material)]
    if "truth" in kinds:
        true = _best(kinds["truth"], measure)
        parts.append(f"In truth the best {_are(true)} {listed(true)} ({_told(kinds['truth'], true, measure)}).")
    return " ".join(parts)


def impossible(one: Estimate, measure: Measure) -> str | None:
    """Where a corrected value lies, if no list can have it.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> impossible(Estimate(value=1.4, n=9, method="confusion"), parse("P@10"))
        'above 1, where no score can be'
        >>> impossible(Estimate(value=1.4, n=9, method="confusion"), parse("DCG@10"))
    """
    known = dict(measure.parameters)
    if one.value is None or known.get("gains") is not None:
        return None
    if one.value < 0:
        return "below 0, where no score can be"
    if one.value > 1 and measure.name not in UNBOUNDED:
        return "above 1, where no score can be"
    if any("that a list could be worth" in note for note in one.notes):
        return "beyond what a list could be worth"
    return None


def _best_told(kinds: Mapping[str, Means], first: Sequence[str], by_labels: Sequence[str], material: Material) -> str:
    measure, raw = material.measure, kinds["raw"]
    every = len(first) == len(raw)
    if "corrected" not in kinds:
        if every:
            return f"By {measure} {all_of(first)} have the same value ({_told(raw, first, measure)})."
        of = counted(len(raw), "run")
        return f"By {measure} the best of {of} {_are(first)} {listed(first)} ({_told(raw, first, measure)})."
    beyond = impossible(kinds["corrected"][first[0]][measure], material.measures[0])
    value = "" if beyond else _told(kinds["corrected"], first, measure)
    if every and len(by_labels) == len(raw):
        said = f"By {measure} {all_of(first)} have the same value: raw {_told(raw, by_labels, measure)}"
        return f"{said}, {f'corrected {value}' if value else f'and corrected one that lies {beyond}'}."
    if first[0] in by_labels:
        said = f"By {measure} the best {_are(first)} {listed(first)}"
        if value:
            return f"{said} ({value}), by the raw labels and corrected."
        said += f", by the raw labels ({_told(raw, by_labels, measure)}) and corrected"
    else:
        said = f"By {measure} the raw labels call {listed(by_labels)} ({_told(raw, by_labels, measure)}) the best; "
        said += f"corrected, {_are(first, 'it is', 'they are')} {listed(first)}"
        if value:
            return f"{said} ({value})."
    return f"{said}. No corrected value is told here: it lies {beyond}."


def _at_odds(means: Means, first: str, material: Material) -> list[str]:
    """A run with a higher value than the one that is first by the differences."""
    measure, pairs = material.measure, compared(material)
    own, top = means[first][measure].value, _best(means, measure)
    beyond = impossible(means[first][measure], material.measures[0])
    if own is None or beyond or not top or first in top or (top[0], first) not in pairs:
        return []
    gap = pairs[top[0], first].difference.value
    if gap is None:
        return []
    which = "corrected value" if material.gold is not None else "mean"
    said = f"{top[0]} has a higher {which}"
    digits = pairs[top[0], first].difference.decimals + 1
    if gap < 0:
        return [
            f"{said}, but compared with {first}, it lies {minus(-gap, digits)} behind, and a comparison knows more."
        ]
    return [f"{said}; {first} is first by its differences from all the other runs."]


def _of_one(kinds: Mapping[str, Means], run: str, measure: Measure) -> str:
    told = []
    for kind, means in kinds.items():
        one = means[run][str(measure)]
        beyond = impossible(one, measure) if kind == "corrected" else None
        told.append(f"{kind} {_value(one)}" if beyond is None else f"{kind} a value that lies {beyond}")
    return ", ".join(told) if len(kinds) > 1 else told[0].removeprefix("raw ")


def _best(means: Means, measure: str) -> tuple[str, ...]:
    return leaders({run: row[measure].value for run, row in means.items()})


def _told(means: Means, runs: Sequence[str], measure: str) -> str:
    """The value that these runs share."""
    return _value(means[runs[0]][measure]) if runs else "–"


def _are(runs: Sequence[str], one: str = "is", several: str = "are") -> str:
    return one if len(runs) == 1 else several


def _value(one: Estimate) -> str:
    if one.value is None or one.low is None or one.high is None:
        return str(one)
    value, low, high = (minus(number, one.decimals) for number in (one.value, one.low, one.high))
    return f"{value}, {one.level:.0%} interval {low} to {high}"
