"""Reading and writing the names of measures: `nDCG@10`, `P(rel=2)@10`, `RBP(p=0.8)`, `IPrec@0.5`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ringtrue.errors import MeasureError, did_you_mean, find_near_miss
from ringtrue.evaluation.measures.catalogue import CATALOGUE, NEEDS_COLLECTION, PARAMETERS, Definition
from ringtrue.evaluation.measures.ranked_lists import FloatArray, RankedLists

# What other tools and people call our measures.
SYNONYMS = {
    "map": "AP",
    "mrr": "RR",
    "recip_rank": "RR",
    "precision": "P",
    "recall": "R",
    "hit": "Success",
    "hitrate": "Success",
    "hit_rate": "Success",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_f": "SetF",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "11pt_avg": "IAP",
    "11pt": "IAP",
}
# trec_eval prints the cutoff behind an underscore and reads it behind a dot.
TREC_EVAL = {
    "ndcg_cut": "nDCG@{}",
    "map_cut": "AP@{}",
    "recall": "R@{}",
    "p": "P@{}",
    "success": "Success@{}",
    "iprec_at_recall": "IPrec@{}",
    "rprec_mult": "Rprec(mult={})",
}
MAX_CUTOFF = 10_000_000  # no list is longer
MEASURE_PATTERN = re.compile(
    r"\s*(?P<name>[A-Za-z0-9_]+)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<at>[^@()]+?))?\s*", re.S
)
TREC_EVAL_PATTERN = re.compile(r"(?P<name>[A-Za-z_]+)[_.](?P<at>\d+(?:\.\d+)?|\.\d+)")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure as a value: name, cutoff, and the parameters that were given.

    Call it with ranked lists to get one number for each list.

    Examples:
        >>> measure = parse("P(rel=2)@10")
        >>> measure.name, measure.cutoff, str(measure)
        ('P', 10, 'P(rel=2)@10')
        >>> from ringtrue.evaluation.measures import ranked
        >>> parse("RR")(ranked([0, 1]))
        array([0.5])
    """

    name: str
    cutoff: int | float | None = None
    parameters: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.name not in CATALOGUE:
            near = did_you_mean(self.name, CATALOGUE)
            raise MeasureError("unknown-measure", f"unknown measure '{self.name}'{near}", parameter="measures")
        _parse_cutoff(self.definition, None if self.cutoff is None else str(self.cutoff), str(self))
        for name, value in self.parameters:
            _require_parameter(self.definition, name, dict(value) if name == "gains" else value, str(self))

    @property
    def definition(self) -> Definition:
        """The formula behind it."""
        return CATALOGUE[self.name]

    @property
    def reach(self) -> int | None:
        """The lowest rank that it looks at, or None if it looks at the whole list."""
        needs_whole_list = self.name in NEEDS_COLLECTION or dict(self.parameters).get("judged_only", False)
        return None if needs_whole_list or not isinstance(self.cutoff, int) else self.cutoff

    @property
    def rel(self) -> int:
        """The lowest label that counts as relevant; 1 where nothing says otherwise."""
        return int(dict(self.parameters).get("rel", 1))

    def __str__(self) -> str:
        inside = ",".join(f"{name}={_format_parameter(value)}" for name, value in self.parameters)
        at = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}({inside}){at}" if inside else f"{self.name}{at}"

    def __call__(self, lists: RankedLists) -> FloatArray:
        """One number for each list."""
        arguments = {name: dict(value) if name == "gains" else value for name, value in self.parameters}
        if arguments.pop("judged_only", False):
            lists = lists.condensed
        if self.cutoff is not None:
            arguments["recall" if self.definition.cutoff == "recall" else "k"] = self.cutoff
        return self.definition.formula(lists, **arguments)

    def with_default(self, name: str, value: object) -> Measure:
        """The same measure with a parameter set, where it knows that parameter and leaves it open."""
        if name in dict(self.parameters) or self.definition.defaults.get(name, value) == value:
            return self
        return _build_measure(self.definition, self.cutoff, dict(self.parameters) | {name: value}, text=str(self))

    def from_label(self, rel: int) -> Measure:
        """The same measure with documents relevant from this label on, whatever it said before."""
        parameters = tuple((name, value) for name, value in self.parameters if name != "rel")
        return Measure(self.name, self.cutoff, parameters).with_default("rel", rel)


def parse(text: str | Measure) -> Measure:
    """Read a measure's name; other tools' names are understood, near misses get a suggestion.

    Examples:
        >>> str(parse("ndcg_cut_10")), str(parse("MRR@10")), str(parse("nDCG(dcg=exp-log2)@5"))
        ('nDCG@10', 'RR@10', "nDCG(dcg='exp-log2')@5")
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise MeasureError("not-a-measure", f"a measure is written like 'nDCG@10'; found {text!r}")
    if trec_match := TREC_EVAL_PATTERN.fullmatch(text.strip()):
        template = TREC_EVAL.get(trec_match["name"].lower())
        if template is not None:
            return parse(template.format(trec_match["at"]))
    match = MEASURE_PATTERN.fullmatch(text)
    if match is None:
        raise MeasureError("not-a-measure", f"'{text}' is no measure; write it like nDCG@10, P(rel=2)@10 or AP")
    definition = _find_definition(match["name"], suffix=text[match.end("name") :].strip())
    return _build_measure(
        definition, _parse_cutoff(definition, match["at"], text), _parse_parameters(match["inside"], text), text=text
    )


def parse_all(texts: Iterable[str | Measure]) -> list[Measure]:
    """Read several names, each of which may be a comma-separated list; one that comes twice counts once.

    Examples:
        >>> [str(measure) for measure in parse_all(["nDCG@10,AP", "nDCG(gains={1:1,2:3})@5"])]
        ['nDCG@10', 'AP', 'nDCG(gains={1:1,2:3})@5']
    """
    measures: dict[Measure, None] = {}
    for text in texts:
        if not isinstance(text, str):
            measures[parse(text)] = None
            continue
        for part in _split_at_commas(text):
            if part.strip():
                measures[parse(part)] = None
    return list(measures)


def _find_definition(name: str, *, suffix: str) -> Definition:
    by_lower = {canonical.lower(): canonical for canonical in CATALOGUE}
    canonical = SYNONYMS.get(name.lower()) or by_lower.get(name.lower())
    if canonical is None:
        letters = name.rstrip("0123456789")
        if letters.lower() in by_lower and not suffix:
            near = f"{by_lower[letters.lower()]}@{name[len(letters) :]}"
            raise MeasureError(
                "unknown-measure", f"unknown measure '{name}'; did you mean '{near}'?", parameter="measures"
            )
        known = find_near_miss(name, [*CATALOGUE, *SYNONYMS])
        suggestion = f"; did you mean '{known}{suffix}'?" if known else ""
        raise MeasureError("unknown-measure", f"unknown measure '{name}{suffix}'{suggestion}", parameter="measures")
    return CATALOGUE[canonical]


def _parse_cutoff(definition: Definition, at: str | None, text: str) -> int | float | None:
    kind, name = definition.cutoff, definition.name
    if at is None:
        if kind in ("required", "recall"):
            raise MeasureError(
                "needs-cutoff", f"{name} needs a cutoff, such as {name}@{'10' if kind == 'required' else '0.5'}"
            )
        return None
    if kind == "none":
        raise MeasureError("unexpected-cutoff", f"{name} takes no cutoff; write {name}", subject=f"'{text}'")
    try:
        cutoff = float(at)
    except ValueError:
        cutoff = -1.0
    if kind == "recall":
        if not 0 <= cutoff <= 1:
            raise MeasureError(
                "bad-cutoff", f"expected a recall level from 0 to 1 after @, found '{at}'", subject=f"'{text}'"
            )
        return cutoff
    if not 1 <= cutoff <= MAX_CUTOFF or cutoff != int(cutoff):
        raise MeasureError(
            "bad-cutoff", f"expected a whole number of at least 1 after @, found '{at}'", subject=f"'{text}'"
        )
    return int(cutoff)


def _parse_parameters(inside: str | None, text: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for part in _split_at_commas(inside or ""):
        if not part.strip():
            continue
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            expected = f"expected name=value inside the parentheses, found '{part.strip()}'"
            raise MeasureError("not-a-measure", expected, subject=f"'{text}'")
        if name in parameters:
            raise MeasureError("repeated-parameter", f"parameter '{name}' is given twice", subject=f"'{text}'")
        try:
            parameters[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            parameters[name] = value
    return parameters


def _build_measure(
    definition: Definition, cutoff: int | float | None, parameters: Mapping[str, Any], *, text: str
) -> Measure:
    for name, value in parameters.items():
        _require_parameter(definition, name, value, text)
    if parameters.get("alpha") is not None and "beta" in parameters:
        raise MeasureError(
            "conflicting-parameters",
            "give alpha or beta, not both: beta² = (1 − alpha) / alpha",
            subject=f"'{text}'",
        )
    frozen = tuple((name, _freeze_parameter(parameters[name])) for name in definition.defaults if name in parameters)
    return Measure(definition.name, cutoff, frozen)


def _require_parameter(definition: Definition, name: str, value: object, text: str) -> None:
    if name not in definition.defaults:
        near = did_you_mean(name, definition.defaults) or "; it takes " + ", ".join(definition.defaults)
        unknown = f"{definition.name} has no parameter '{name}'{near}"
        raise MeasureError("unknown-parameter", unknown, subject=f"'{text}'")
    if not PARAMETERS[name].accepts(value):
        expected = f"{name} is {PARAMETERS[name].expected}; found {value!r}"
        raise MeasureError("bad-value", expected, subject=f"'{text}'")


def _freeze_parameter(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(sorted(value.items()))
    return tuple(value) if isinstance(value, list) else value


def _format_parameter(value: Any) -> str:
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return "{" + ",".join(f"{label}:{gain}" for label, gain in value) + "}"
        return "[" + ",".join(map(str, value)) + "]"
    return repr(value)


def _split_at_commas(text: str) -> list[str]:
    """Split at the commas that stand in no bracket and no quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]
