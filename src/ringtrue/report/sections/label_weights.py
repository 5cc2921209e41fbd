"""What is each label worth when users disagree?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.disagreement import disagree, weight
from ringtrue.messages import Note
from ringtrue.report.inputs import ReportInputs, labels_without_traps, scale_notes
from ringtrue.report.model import Figure, Forest, Section, SectionOutline, Series
from ringtrue.report.sections.number_phrases import (
    capitalize_first,
    drop_if_unknown,
    format_estimate,
    format_number,
    format_percent,
    join_names,
)

if TYPE_CHECKING:
    from ringtrue.judges.disagreement import Disagreement
    from ringtrue.stats.results import Estimate

OUTLINE = SectionOutline(
    name="weights",
    title="What a label is worth",
    needs="labels of several judges of the same documents",
    figures={"weights": "What is each label worth when users disagree?"},
)
AT_LEAST = (1, 3)  # what to take where nobody says which users count
OTHER_AT_LEAST = ((1, 2), (2, 3))
RESAMPLES = 500


def section(inputs: ReportInputs) -> Section | None:
    """The weight of each label by the User Disagreement Model, with its interval."""
    labels, notes = labels_without_traps(inputs)
    if labels is None:
        return None
    model = disagree(
        labels,
        AT_LEAST,
        repeats=inputs.repeats,
        verify=[AT_LEAST],
        resamples=RESAMPLES,
        level=inputs.level,
        rng=inputs.rng("weights"),
    )
    return OUTLINE.section(
        _summarise_weights(model),
        _weight_figure(model),
        notes=(*scale_notes(labels), *notes, *model.flags, *model.notes),
    )


def _users_phrase(model: Disagreement) -> str:
    least, users = model.at_least
    return f"at least {least} of {format_count(users, 'user')}"


def _summarise_weights(model: Disagreement) -> str:
    """The labels between the lowest and the top: what the model is about."""
    weights = _estimated_weights(model)
    top = " or ".join(model.top)
    if not weights:
        same_label = model.p[model.top[0]]
        return f"Where one judge says {top}, another says so too in {format_percent(same_label.value)} of cases."
    listing = join_names([f"a {name} is worth {format_number(weight.value)}" for name, weight in weights.items()])
    return f"Counting a document as good where {_users_phrase(model)} would say {top}, {listing} of a full one."


def _estimated_weights(model: Disagreement) -> dict[str, Estimate]:
    """Weights that data had to tell."""
    given = ("by definition", "lowest level")
    return {
        name: estimate
        for name, estimate in model.weights.items()
        if estimate.value is not None and estimate.method not in given
    }


def _weight_figure(model: Disagreement) -> Figure:
    least, users = model.at_least
    names = model.levels[::-1]
    series = {f"another judge says {' or '.join(model.top)}": model.p, f"worth for {least}/{users}": model.weights}
    chart = Forest(
        names=names,
        across="share",
        series=tuple(
            Series(name=title, values=tuple(drop_if_unknown(estimates[name]) for name in names))
            for title, estimates in series.items()
        ),
        marks=tuple(f"{model.cases[name]:,}" for name in names),
        marks_title="pairs of labels",
    )
    return OUTLINE.figure("weights", _describe_weights(model), _weight_table(model), chart, notes=_weight_notes(model))


def _describe_weights(model: Disagreement) -> str:
    top, size = " or ".join(model.top), format_count(model.documents, "document")
    words = [
        f"given a label of {name}, another judge says {top} in {format_percent(estimate.value)}"
        for name, estimate in model.p.items()
        if estimate.value is not None
    ]
    pairs_clause = f"{capitalize_first('; '.join(words))} of cases, on {size} with two labels or more."
    weights = [f"{name} is worth {format_estimate(estimate)}" for name, estimate in _estimated_weights(model).items()]
    if not weights:
        return pairs_clause
    listing = join_names(weights)
    return (
        f"{pairs_clause} So if {_users_phrase(model)} saying {top} makes a document good, a label of {listing} where "
        "one that is surely good is worth 1."
    )


def _weight_notes(model: Disagreement) -> list[Note]:
    notes, lowest = [], model.levels[0]
    if model.weights[lowest].method == "lowest level":
        notes.append(Note("lowest-worth-nothing", f"{lowest}, the lowest label, is worth nothing by choice"))
    values = [estimate.value for estimate in model.weights.values() if estimate.value is not None]
    if values != sorted(values):
        text = "a higher label is not always worth more: the scale is not one of worth"
        notes.append(Note("unordered-worth", text))
    choice = "which M of N users count is a choice that no data can make: report which you took"
    return [*notes, Note("choice-of-users", choice)]


def _weight_table(model: Disagreement) -> Grid:
    least, users = model.at_least
    rows = []
    for name in model.levels[::-1]:
        p = model.p[name].value
        top = name in model.top
        other_weights = [
            "–"
            if p is None
            else format_number(0.0 if name == model.levels[0] and not top else float(weight(p, *at_least, top=top)))
            for at_least in OTHER_AT_LEAST
        ]
        estimates = (format_estimate(estimate, 3) for estimate in (model.p[name], model.weights[name]))
        rows.append([name, f"{model.cases[name]:,}", *estimates, *other_weights])
    columns = ["label", "pairs of labels", f"another says {' or '.join(model.top)}", f"worth for {least}/{users}"]
    return Grid(
        columns=[*columns, *(f"for {m}/{n}" for m, n in OTHER_AT_LEAST)],
        rows=rows,
        caption=f"M/N: at least M of N users call it top, one of whom gave this label; "
        f"{next(iter(model.p.values())).level:.0%} intervals",
    )
