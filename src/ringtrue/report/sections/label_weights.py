"""What is each label worth when users disagree?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.judges.disagreement import disagree, weight
from ringtrue.report.inputs import Material
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.sections.label_scales import scales_told
from ringtrue.report.sections.number_phrases import ends, listed, minus, or_none, percent
from ringtrue.report.sections.regular_labels import labels_of_work

if TYPE_CHECKING:
    from ringtrue.judges.disagreement import Disagreement
    from ringtrue.stats.results import Estimate

__all__ = ["FIGURES", "NEEDS", "TITLE", "section"]

TITLE = "What a label is worth"
NEEDS = "labels of several judges of the same documents"
FIGURES = {"weights": "What is each label worth when users disagree?"}
AT_LEAST = (1, 3)  # what to take where nobody says which users count
ALSO = ((1, 2), (2, 3))
RESAMPLES = 500


def section(material: Material) -> Section | None:
    """The weight of each label by the User Disagreement Model, with its interval."""
    labels, notes = labels_of_work(material)
    if labels is None:
        return None
    found = disagree(labels, AT_LEAST, repeats=material.repeats, verify=[AT_LEAST], resamples=RESAMPLES,
                     level=material.level, rng=material.rng("weights"))  # fmt: skip
    return Section(name="weights", title=TITLE, answer=_answer(found), figures=(_figure(found),),
                   notes=(*scales_told(labels), *notes, *found.flags, *found.notes))  # fmt: skip


def _users(found: Disagreement) -> str:
    least, users = found.at_least
    return f"at least {least} of {counted(users, 'user')}"


def _answer(found: Disagreement) -> str:
    """The labels between the lowest and the top: what the model is about."""
    worth = _in_between(found)
    top = " or ".join(found.top)
    if not worth:
        again = found.p[found.top[0]]
        return f"Where one judge says {top}, another says so too in {percent(again.value)} of cases."
    told = listed([f"a {name} is worth {minus(one.value)}" for name, one in worth.items()])
    return f"Counting a document as good where {_users(found)} would say {top}, {told} of a full one."


def _in_between(found: Disagreement) -> dict[str, Estimate]:
    """Weights that data had to tell."""
    told = {name: one for name, one in found.weights.items() if one.value is not None}
    return {name: one for name, one in told.items() if one.method not in ("by definition", "lowest level")}


def _figure(found: Disagreement) -> Figure:
    least, users = found.at_least
    top = " or ".join(found.top)
    names = found.levels[::-1]
    chart = Forest(
        names=names, across="share",
        series=(
            Series(name=f"another judge says {top}", values=tuple(or_none(found.p[name]) for name in names)),
            Series(name=f"worth for {least}/{users}", values=tuple(or_none(found.weights[name]) for name in names)),
        ),
        marks=tuple(f"{found.cases[name]:,}" for name in names), marks_title="pairs of labels",
    )  # fmt: skip
    return Figure(name="weights", title=FIGURES["weights"], sentence=_sentence(found), charts=(chart,),
                  table=_table(found), notes=_meant(found))  # fmt: skip


def _sentence(found: Disagreement) -> str:
    top, size = " or ".join(found.top), counted(found.documents, "document")
    known = {name: one for name, one in found.p.items() if one.value is not None}
    words = [
        f"Given a label of {name}, another judge says {top} in {percent(one.value)}" for name, one in known.items()
    ]
    told = f"{'; '.join(words).replace('; Given', '; given')} of cases, on {size} with two labels or more."
    worth = {name: ends(one) for name, one in _in_between(found).items()}
    if not worth:
        return told
    each = listed([f"{name} is worth {value}" for name, value in worth.items()])
    return (
        f"{told} So if {_users(found)} saying {top} makes a document good, a label of {each} where one that is surely "
        f"good is worth 1."
    )


def _meant(found: Disagreement) -> tuple[str, ...]:
    lowest = found.levels[0]
    zero = found.weights[lowest].method == "lowest level"
    first = (f"{lowest}, the lowest label, is worth nothing by choice",) if zero else ()
    worth = [one.value for one in found.weights.values() if one.value is not None]
    falls = (
        () if worth == sorted(worth) else ("a higher label is not always worth more: the scale is not one of worth",)
    )
    return (*first, *falls, "which M of N users count is a choice that no data can make: report which you took")


def _table(found: Disagreement) -> Grid:
    least, users = found.at_least
    rows = []
    for name in found.levels[::-1]:
        p = found.p[name].value
        top = name in found.top
        more = [
            "–" if p is None else minus(0.0 if name == found.levels[0] and not top else float(weight(p, *two, top=top)))
            for two in ALSO
        ]
        rows.append([name, f"{found.cases[name]:,}", ends(found.p[name], 3), ends(found.weights[name], 3), *more])
    columns = ["label", "pairs of labels", f"another says {' or '.join(found.top)}", f"worth for {least}/{users}"]
    return Grid(columns=[*columns, *(f"for {m}/{n}" for m, n in ALSO)], rows=rows,
                caption=f"M/N: at least M of N users call it top, one of whom gave this label; "
                f"{next(iter(found.p.values())).level:.0%} intervals")  # fmt: skip
