"""What `agree` gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ringtrue.messages import Note
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate, plain_fields, to_plain

if TYPE_CHECKING:
    import polars as pl

PRINTED_STATISTICS = {"agreement": "agreement", "alpha_ordinal": "ordinal alpha"}  # in a printed line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairAgreement:
    """How far judges `a` and `b` agree on the `n` items that both labelled; with repeats kept, on n pairs of labels.

    `kappa_asymptotic` is Cohen's kappa again with the textbook's large-sample interval, which takes every item as
    drawn by itself; `kappa_null_se` is its standard error if there were no agreement beyond chance.

    Examples:
        >>> import ringtrue as rt
        >>> labels = {"doc": ["a", "a", "b", "b", "c", "c"], "judge": ["x", "y"] * 3, "label": [0, 0, 1, 1, 0, 1]}
        >>> pair = rt.agree(labels, resamples=0).pairs[0]
        >>> pair.n, pair.confusion.counts.tolist()
        (3, [[1, 1], [0, 1]])
    """

    a: str
    b: str
    n: int
    agreement: Estimate
    overlap: Estimate
    kappa: Estimate
    kappa_linear: Estimate
    kappa_quadratic: Estimate
    scott_pi: Estimate
    ac1: Estimate
    alpha_ordinal: Estimate
    kappa_asymptotic: Estimate
    kappa_null_se: float | None
    confusion: Confusion

    def as_dict(self) -> dict[str, object]:
        """The pair as plain data, in the key order of the command line's JSON; rows of the confusion are a's labels."""
        plain = {field.name: to_plain(getattr(self, field.name)) for field in fields(self) if field.name != "confusion"}
        return plain | {"confusion": self.confusion.counts.tolist(), "labels": list(self.confusion.labels)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A stretch of time: how often its labels were those of others on the same item, and how much higher they were.

    Examples:
        >>> import ringtrue as rt
        >>> labels = {"doc": [n // 2 for n in range(80)], "judge": ["x", "y"] * 40, "label": [0, 1] * 20 + [1, 1] * 20}
        >>> periods = rt.agree(labels | {"time": range(80)}, resamples=0).drift
        >>> [period.agreement.value for period in periods]
        [0.0, 0.0, 1.0, 1.0]
    """

    first: str
    last: str
    labels: int
    agreement: Estimate
    leniency: Estimate

    def as_dict(self) -> dict[str, object]:
        """The period as plain data."""
        return plain_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitivity:
    """Whether preferences fit an order: the share of triples a > b, b > c in which a > c too.

    `within` counts triples of one judge, `majority` those of the majority's preferences; pure chance gives 0.75.
    `cycle` is a query and three of its documents that the majority puts in a circle.

    Examples:
        >>> import ringtrue as rt
        >>> circle = {"left": ["a", "b", "c"] * 2, "right": ["b", "c", "a"] * 2, "winner": ["left"] * 6,
        ...           "judge": ["x"] * 3 + ["y"] * 3}
        >>> rt.agree(circle, resamples=0).transitivity.majority.value
        0.0
    """

    within: Estimate
    majority: Estimate
    cycle: tuple[str, str, str, str] | None = None

    def as_dict(self) -> dict[str, object]:
        """The two shares and a cycle as plain data."""
        cycle = None if self.cycle is None else {"query": self.cycle[0], "docs": list(self.cycle[1:])}
        return plain_fields(self) | {"cycle": cycle}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Agreement:
    """How far judges agree: `overall` by the name of the statistic, and for each pair of judges.

    `labels` is the scale, `used` the labels that somebody gave. `gold` holds the pairs of each judge with gold, the
    closest first, `consensus` that of the judges' majority. `self_consistency` in `overall` is about one judge's labels
    of the same item, `cross_consistency` about different judges' labels of the items that some judge labelled again.
    `drift` and `transitivity` are there where the data have time or preferences.

    Examples:
        >>> import ringtrue as rt
        >>> labels = {"doc": ["a", "a", "b", "b", "c", "c"], "judge": ["x", "y"] * 3, "label": [0, 0, 1, 1, 0, 1]}
        >>> agreement = rt.agree(labels, resamples=0)
        >>> print(agreement)
        2 judges, 6 labels of 3 items; agreement 0.6667; ordinal alpha 0.4444
        >>> agreement.frame.select("a", "b", "n").rows()
        [('x', 'y', 3)]
    """

    judges: tuple[str, ...]
    labels: tuple[int, ...]
    used: tuple[int, ...]
    votes: int
    items: int
    queries: int
    overall: Mapping[str, Estimate]
    pairs: tuple[PairAgreement, ...]
    gold: tuple[PairAgreement, ...] = ()
    consensus: PairAgreement | None = None
    drift: tuple[Period, ...] = ()
    transitivity: Transitivity | None = None
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        parts = [f"{len(self.judges):,} judges, {self.votes:,} labels of {self.items:,} items"]
        parts += [f"{words} {self.overall[name]}" for name, words in PRINTED_STATISTICS.items()]
        if self.consensus is not None:
            parts.append(f"majority and gold, kappa {self.consensus.kappa}")
        return "; ".join(parts)

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each pair of judges, those with gold first: a, b, n and the value of every statistic."""
        import polars as pl

        names = [field.name for field in fields(PairAgreement) if field.type == "Estimate"]
        rows = [
            {"a": pair.a, "b": pair.b, "n": pair.n} | {name: getattr(pair, name).value for name in names}
            for pair in (*self.gold, *self.pairs)
        ]
        types = {"a": pl.String, "b": pl.String, "n": pl.Int64} | dict.fromkeys(names, pl.Float64)
        return pl.DataFrame(rows, schema=types)

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON; pairs with gold come first."""
        return {
            "overall": to_plain(self.overall),
            "pairs": to_plain((*self.gold, *self.pairs)),
            "consensus": to_plain(self.consensus),
            "labels": list(self.labels),
            "judges": len(self.judges),
            **plain_fields(self, "items", "queries", "votes", "drift", "transitivity", "notes"),
        }
