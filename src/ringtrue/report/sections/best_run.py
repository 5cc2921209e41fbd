"""Which run is the best, in a sentence: by the raw labels, corrected and in truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ringtrue.evaluation.measures import Measure
from ringtrue.formatting.phrases import format_count
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.run_order import Means, all_runs_phrase, compare_run_pairs, find_leaders, fit_strengths, order_runs
from ringtrue.report.sections.number_phrases import format_number, join_names
from ringtrue.stats.results import Estimate

UNBOUNDED = ("DCG", "CG", "TP", "FP", "FN", "TN", "NumRet", "NumRel", "NumRelRet")


def best_run_sentence(kinds: Mapping[str, Means], inputs: ReportInputs) -> str:
    """The best run by each kind of value; where several have the same, all of them."""
    measure, kind = inputs.measure, "corrected" if "corrected" in kinds else "raw"
    names = order_runs(inputs)
    if len(names) == 1:
        return f"By {measure}, {names[0]} has {_describe_single_run(kinds, names[0], inputs.measures[0])}."
    first = find_leaders(fit_strengths(inputs)) or names[:1]
    by_labels = first if kind == "raw" else _runs_with_highest_mean(kinds["raw"], measure)
    parts = [_describe_best_run(kinds, first, by_labels, inputs), *_describe_higher_mean(kinds[kind], first[0], inputs)]
    if "truth" in kinds:
        truly_best = _runs_with_highest_mean(kinds["truth"], measure)
        parts.append(
            f"In truth the best {_is_or_are(truly_best)} {join_names(truly_best)} "
            f"({_shared_value(kinds['truth'], truly_best, measure)})."
        )
    return " ".join(parts)


def why_impossible(estimate: Estimate, measure: Measure) -> str | None:
    """Where a corrected value lies, if no list can have it.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> why_impossible(Estimate(value=1.4, n=9, method="confusion"), parse("P@10"))
        'above 1, where no score can be'
        >>> why_impossible(Estimate(value=1.4, n=9, method="confusion"), parse("DCG@10"))
    """
    parameters = dict(measure.parameters)
    if estimate.value is None or parameters.get("gains") is not None:
        return None
    if estimate.value < 0:
        return "below 0, where no score can be"
    if estimate.value > 1 and measure.name not in UNBOUNDED:
        return "above 1, where no score can be"
    if any("that a list could be worth" in note for note in estimate.notes):
        return "beyond what a list could be worth"
    return None


def _describe_best_run(
    kinds: Mapping[str, Means], first: Sequence[str], by_labels: Sequence[str], inputs: ReportInputs
) -> str:
    measure, raw = inputs.measure, kinds["raw"]
    all_level = len(first) == len(raw)
    if "corrected" not in kinds:
        if all_level:
            return f"By {measure} {all_runs_phrase(first)} have the same value ({_shared_value(raw, first, measure)})."
        run_count = format_count(len(raw), "run")
        return (
            f"By {measure} the best of {run_count} {_is_or_are(first)} {join_names(first)} "
            f"({_shared_value(raw, first, measure)})."
        )
    beyond = why_impossible(kinds["corrected"][first[0]][measure], inputs.measures[0])
    value = "" if beyond else _shared_value(kinds["corrected"], first, measure)
    if all_level and len(by_labels) == len(raw):
        sentence = (
            f"By {measure} {all_runs_phrase(first)} have the same value: raw {_shared_value(raw, by_labels, measure)}"
        )
        return f"{sentence}, {f'corrected {value}' if value else f'and corrected one that lies {beyond}'}."
    if first[0] in by_labels:
        sentence = f"By {measure} the best {_is_or_are(first)} {join_names(first)}"
        if value:
            return f"{sentence} ({value}), by the raw labels and corrected."
        sentence += f", by the raw labels ({_shared_value(raw, by_labels, measure)}) and corrected"
    else:
        sentence = (
            f"By {measure} the raw labels call {join_names(by_labels)} "
            f"({_shared_value(raw, by_labels, measure)}) the best; "
        )
        sentence += f"corrected, {_is_or_are(first, 'it is', 'they are')} {join_names(first)}"
        if value:
            return f"{sentence} ({value})."
    return f"{sentence}. No corrected value is told here: it lies {beyond}."


def _describe_higher_mean(means: Means, first: str, inputs: ReportInputs) -> list[str]:
    """A run with a higher value than the one that is first by the differences."""
    measure, pairs = inputs.measure, compare_run_pairs(inputs)
    first_mean, highest = means[first][measure].value, _runs_with_highest_mean(means, measure)
    beyond = why_impossible(means[first][measure], inputs.measures[0])
    if first_mean is None or beyond or not highest or first in highest or (highest[0], first) not in pairs:
        return []
    gap = pairs[highest[0], first].difference.value
    if gap is None:
        return []
    which = "corrected value" if inputs.gold is not None else "mean"
    clause = f"{highest[0]} has a higher {which}"
    digits = pairs[highest[0], first].difference.decimals + 1
    if gap < 0:
        return [
            (
                f"{clause}, but compared with {first}, it lies {format_number(-gap, digits)} behind, and a comparison "
                "knows more."
            )
        ]
    return [f"{clause}; {first} is first by its differences from all the other runs."]


def _describe_single_run(kinds: Mapping[str, Means], run: str, measure: Measure) -> str:
    phrases = []
    for kind, means in kinds.items():
        estimate = means[run][str(measure)]
        beyond = why_impossible(estimate, measure) if kind == "corrected" else None
        phrases.append(
            f"{kind} {_value_with_interval(estimate)}" if beyond is None else f"{kind} a value that lies {beyond}"
        )
    return ", ".join(phrases) if len(kinds) > 1 else phrases[0].removeprefix("raw ")


def _runs_with_highest_mean(means: Means, measure: str) -> tuple[str, ...]:
    return find_leaders({run: row[measure].value for run, row in means.items()})


def _shared_value(means: Means, runs: Sequence[str], measure: str) -> str:
    """The value that these runs share."""
    return _value_with_interval(means[runs[0]][measure]) if runs else "–"


def _is_or_are(runs: Sequence[str], singular: str = "is", plural: str = "are") -> str:
    return singular if len(runs) == 1 else plural


def _value_with_interval(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return str(estimate)
    value, low, high = (
        format_number(number, estimate.decimals) for number in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value}, {estimate.level:.0%} interval {low} to {high}"
