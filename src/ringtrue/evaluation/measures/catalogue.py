"""Which measures there are: a name, a formula, and whatever the formula asks for.

To add a measure, write its formula and give it a name here. Its parameters are the keyword arguments of
the formula: `k` is the cutoff after `@`, `recall` a cutoff that is a recall level, and every other one must
be known to `PARAMETERS`, which says what values it takes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ringtrue.evaluation.measures import binary, graded, set_based
from ringtrue.evaluation.measures.graded import MAX_GRADE
from ringtrue.evaluation.measures.ranked_lists import FloatArray

Cutoff: TypeAlias = Literal["none", "optional", "required", "recall"]
NEEDS_COLLECTION = frozenset({"AUC", "Fallout", "SetAcc", "TN"})  # all that was retrieved counts, whatever the cutoff
FORMULAS: dict[str, Callable[..., FloatArray]] = {
    "nDCG": graded.ndcg,
    "DCG": graded.dcg,
    "CG": graded.cg,
    "SDCG": graded.sdcg,
    "ERR": graded.err,
    "GAP": graded.graded_average_precision,
    "RBP": graded.rank_biased_precision,
    "RBPres": graded.rank_biased_residual,
    "AP": binary.average_precision,
    "RR": binary.reciprocal_rank,
    "P": binary.precision,
    "R": binary.recall,
    "F": binary.f_measure,
    "Success": binary.success,
    "Rprec": binary.r_precision,
    "IPrec": binary.interpolated_precision,
    "IAP": binary.interpolated_average,
    "PAtRecall": binary.precision_at_recall,
    "AUC": set_based.area_under_roc,
    "Bpref": binary.bpref,
    "infAP": binary.inferred_ap,
    "Judged": set_based.judged_share,
    "SetP": set_based.set_precision,
    "SetR": set_based.set_recall,
    "SetF": set_based.set_f,
    "SetAcc": set_based.accuracy,
    "Fallout": set_based.fallout,
    "TP": set_based.true_positives,
    "FP": set_based.false_positives,
    "FN": set_based.false_negatives,
    "TN": set_based.true_negatives,
    "NumRet": set_based.num_retrieved,
    "NumRel": set_based.num_relevant,
    "NumRelRet": set_based.true_positives,
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """What values a parameter takes, in words and as a check."""

    expected: str
    accepts: Callable[[Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A measure by name: its formula, its cutoff and the defaults of its parameters."""

    name: str
    formula: Callable[..., FloatArray]
    cutoff: Cutoff = field(init=False)
    defaults: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        keywords = {
            name: parameter.default
            for name, parameter in inspect.signature(self.formula).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        cutoff: Cutoff = "none"
        if "recall" in keywords:
            cutoff = "recall"
        elif "k" in keywords:
            cutoff = "optional" if keywords["k"] is None else "required"
        defaults = {name: value for name, value in keywords.items() if name not in ("k", "recall")}
        object.__setattr__(self, "cutoff", cutoff)
        object.__setattr__(self, "defaults", defaults | {"judged_only": False})

    @property
    def summary(self) -> str:
        """What it measures, in one sentence."""
        return (inspect.getdoc(self.formula) or "").split("\n", 1)[0]

    @property
    def usage(self) -> str:
        """How it is written, with every parameter at its default."""
        at = {"none": "", "optional": "[@k]", "required": "@k", "recall": "@r"}[self.cutoff]
        defaults = {name: value for name, value in self.defaults.items() if name != "judged_only"}
        spelled = {
            name: "…" if value is None else "[…]" if isinstance(value, tuple) else value
            for name, value in defaults.items()
        }
        inside = ", ".join(f"{name}={value}" for name, value in spelled.items())
        return f"{self.name}({inside}){at}" if inside else f"{self.name}{at}"


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _is_gain_table(value: Any) -> bool:
    is_table = isinstance(value, Mapping) and bool(value)
    return is_table and all(_is_integer(label) and _is_number(g) and abs(g) < 1e100 for label, g in value.items())


def _are_recall_levels(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_is_number(r) and 0 <= r <= 1 for r in value)


def _number(low: float, high: float, meaning: str) -> Parameter:
    return Parameter(f"a number from {low:g} to {high:g}, {meaning}", lambda v: _is_number(v) and low <= v <= high)


def _choice(expected: str, *choices: str) -> Parameter:
    return Parameter(expected, lambda value: value in choices)


PARAMETERS: dict[str, Parameter] = {
    "rel": Parameter(
        "a whole number of at least 1, the lowest label that counts as relevant", lambda v: _is_integer(v) and v >= 1
    ),
    "max_rel": Parameter(
        f"a whole number from 1 to {MAX_GRADE}, the top grade", lambda v: _is_integer(v) and 1 <= v <= MAX_GRADE
    ),
    "p": Parameter("a number between 0 and 1, the probability of going on", lambda v: _is_number(v) and 0 < v < 1),
    "beta": _number(0.001, 1000, "how much recall weighs against precision"),
    "alpha": _number(0.001, 0.999, "how much precision weighs against recall"),
    "mult": _number(0.001, 1000, "the multiple of R"),
    "dcg": _choice("log2 (the gain is the label) or exp-log2 (the gain is 2^label − 1)", "log2", "exp-log2"),
    "discount": _choice("log2 (gains are divided by log₂(rank + 1)) or zipf (by the rank)", "log2", "zipf"),
    "among": _choice("judged or retrieved: the documents that could be found", "judged", "retrieved"),
    "gains": Parameter("what each label is worth, such as {1:1, 2:3}", _is_gain_table),
    "at": Parameter("recall levels from 0 to 1, such as [0.25, 0.5, 0.75]", _are_recall_levels),
    "judged_only": Parameter(
        "True or False: leave out the documents that nobody judged", lambda v: isinstance(v, bool)
    ),
}

CATALOGUE: dict[str, Definition] = {name: Definition(name=name, formula=formula) for name, formula in FORMULAS.items()}
