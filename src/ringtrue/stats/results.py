"""Answers as frozen values, and estimates as cells of a table with as many digits as they deserve."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from ringtrue.formatting.grid import exact_cells
from ringtrue.messages import Note, notes_as_dict

if TYPE_CHECKING:
    import polars as pl


MAX_SHOWN = 20  # comparisons in a printed text
LEADING_COLUMNS = ("measure", "a", "b", "difference")
PLAIN_TYPES = (str, int, float, type(None))
EXACT_FIELDS = ("value", "se", "low", "high", "level", "n", "method")
NUMBER_FIELDS = ("value", "se", "low", "high", "n")


def to_plain(part: Any) -> Any:
    """A part of a result as plain data for JSON: what has fields is a dictionary of them, a tuple a list.

    Examples:
        >>> to_plain({"mean": Estimate(value=0.5, n=1, method="t")})["mean"]["value"]
        0.5
    """
    if isinstance(part, PLAIN_TYPES):
        return part
    if hasattr(part, "as_dict"):
        return part.as_dict()
    if is_dataclass(part):
        return plain_fields(part)
    if isinstance(part, Mapping):
        return {name: to_plain(inner) for name, inner in part.items()}
    return [to_plain(inner) for inner in part] if isinstance(part, tuple | list) else part


def plain_fields(result: Any, *names: str) -> dict[str, Any]:
    """These fields and properties of a dataclass by name, or all of its fields in their order, each as plain data."""
    plain: dict[str, Any] = {}
    for name in names or [field.name for field in fields(result)]:
        part = getattr(result, name)
        plain |= notes_as_dict(part) if name == "notes" else {name: to_plain(part)}
    return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number, how sure we are of it, and every doubt that travels with it.

    `value` is None where the quantity is undefined; a note then says why. `se`, `low` and `high` are
    None where the data cannot tell them.

    Examples:
        >>> print(Estimate(value=0.4612, se=0.036, low=0.39, high=0.5318, n=43, method="t"))
        0.46 (95% CI 0.39 to 0.53)
        >>> print(Estimate(value=None, n=0, method="t", notes=(Note("no-queries", "no query was judged"),)))
        undefined: no query was judged
    """

    value: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    n: int
    method: str
    notes: tuple[Note, ...] = ()

    @property
    def decimals(self) -> int:
        """How many decimals the standard error supports; four where there is none."""
        if not self.se or not math.isfinite(self.se):
            return 4
        return max(0, -math.floor(math.log10(self.se)))

    def __str__(self) -> str:
        if self.value is None:
            return "undefined: " + "; ".join(self.notes)
        digits = self.decimals
        if self.low is None or self.high is None:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} ({self.level * 100:g}% CI {self.low:.{digits}f} to {self.high:.{digits}f})"

    def within(self, lowest: float, highest: float) -> Estimate:
        """With the interval cut to what is possible; one that lies elsewhere altogether stays as it is.

        Examples:
            >>> print(Estimate(value=0.5, se=0.3, low=-0.1, high=1.1, n=9, method="t").within(0, 1))
            0.5 (95% CI 0.0 to 1.0)
        """
        if self.low is None or self.high is None or self.high < lowest or self.low > highest:
            return self
        return replace(self, low=max(self.low, lowest), high=min(self.high, highest))

    def as_dict(self) -> dict[str, object]:
        """The estimate as plain data, in the key order of the command line's JSON."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | notes_as_dict(self.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Is run `a` better than run `b`? The difference is a − b, and `wins` are the queries where a is ahead.

    `p_value` stands for this comparison alone, `p_adjusted` for one of a family. `ahead` is the run that the test
    speaks for, which for the sign test and Wilcoxon's need not be the one with the higher mean. `effect_size` is the
    mean difference in standard deviations; `detectable` the difference that as many such queries would show in four
    of five tests. None where the data cannot tell; a note then says why. Where the labels were corrected by gold ones,
    `naive` is the same comparison by the labels as they are, and so are the wins, ties and losses; `bounds` are the
    ends of the interval whatever lost labels, and documents that could not be drawn, may be.

    Examples:
        >>> print(Comparison(measure="AP", a="new", b="old", difference=Estimate(value=0.02, n=50, method="t"),
        ...                  p_value=0.2, p_adjusted=0.4, test="t", wins=28, ties=2, losses=20))
        AP: new − old = 0.0200, p = 0.20 (adjusted 0.40), won 28, tied 2, lost 20
    """

    measure: str
    a: str
    b: str
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None = None
    test: str
    ahead: str | None = None
    effect_size: float | None = None
    wins: int
    ties: int
    losses: int
    detectable: float | None = None
    naive: Comparison | None = None
    bounds: tuple[float, float] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def decided(self) -> bool:
        """Whether the adjusted p lies below 1 − level."""
        return self.p_adjusted is not None and self.p_adjusted < round(1 - self.difference.level, 12)

    @property
    def better(self) -> str | None:
        """The run that is better: decided, and the test and the mean speak for the same one."""
        difference = self.difference.value or 0
        higher = self.a if difference > 0 else self.b if difference < 0 else None
        return higher if self.decided and higher == self.ahead else None

    def turned(self) -> Comparison:
        """The same comparison from the other side: b − a."""
        d = self.difference
        value, low, high = (None if bound is None else 0.0 - bound for bound in (d.value, d.high, d.low))
        return replace(
            self,
            a=self.b,
            b=self.a,
            difference=replace(d, value=value, low=low, high=high),
            wins=self.losses,
            losses=self.wins,
            effect_size=None if self.effect_size is None else -self.effect_size,
            naive=None if self.naive is None else self.naive.turned(),
            bounds=None if self.bounds is None else (0.0 - self.bounds[1], 0.0 - self.bounds[0]),
        )

    def __str__(self) -> str:
        p, adjusted = (
            "undefined" if p is None else f"{p:.2g}" if p < 0.1 else f"{p:.2f}" for p in (self.p_value, self.p_adjusted)
        )
        # Who won by labels that were corrected is not known query by query.
        outcome = (
            f"won {self.wins}, tied {self.ties}, lost {self.losses}"
            if self.naive is None
            else _bronze_phrase(self.naive)
        )
        return f"{self.measure}: {self.a} − {self.b} = {self.difference}, p = {p} (adjusted {adjusted}), {outcome}"

    def as_dict(self) -> dict[str, object]:
        """The comparison as plain data, in the key order of the command line's JSON."""
        naive = self.naive or self
        plain = (
            plain_fields(self)
            | notes_as_dict(self.notes)
            | {"naive": {"difference": naive.difference.as_dict(), "p_value": naive.p_value}}
        )
        return {name: value for name, value in plain.items() if name != "bounds" or value is not None}


def _bronze_phrase(naive: Comparison) -> str:
    difference = naive.difference.value
    return "bronze says nothing" if difference is None else f"bronze says {difference:.{naive.difference.decimals}f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """What `compare` gives: every comparison, and in words the test, the family and how p was adjusted for it.

    Examples:
        >>> import ringtrue as rt
        >>> judgments = {"q1": {"d1": 1}, "q2": {"d1": 1}}
        >>> runs = {"new": {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, "old": {"q1": {"d2": 1.0}, "q2": {"d1": 1.0}}}
        >>> print(rt.compare(rt.evaluate(runs, judgments, "RR")).family)
        nothing to adjust for, with one comparison
    """

    comparisons: tuple[Comparison, ...]
    test: str
    family: str
    level: float
    notes: tuple[Note, ...] = ()

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, index: int) -> Comparison:
        return self.comparisons[index]

    def __str__(self) -> str:
        lines = [str(comparison) for comparison in self.comparisons[:MAX_SHOWN]]
        more = [f"… and {len(self) - MAX_SHOWN:,} more"] if len(self) > MAX_SHOWN else []
        return "\n".join([*lines, *more, f"p: {self.test}; adjusted: {self.family}"])

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each comparison, the estimate of the difference in columns of its own."""
        import polars as pl

        rows = [
            comparison.difference.as_dict() | comparison.as_dict() | {"difference": comparison.difference.value}
            for comparison in self
        ]
        columns = [name for name in rows[0] if name not in ("value", "notes", "note_codes", "naive")] if rows else []
        order = ["measure", "a", "b", "difference", *(name for name in columns if name not in LEADING_COLUMNS)]
        return pl.DataFrame([{name: row[name] for name in order} for row in rows], infer_schema_length=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A run's mean curve over `n` queries: `y` at each level `x`, and the area, which is AP, AUC or IAP.

    The area comes from the whole curve of each query, not from these levels. Where there is no query to average,
    x and y are empty and the area is None.

    Examples:
        >>> print(Curve(x=(0.0, 0.5, 1.0), y=(1.0, 1.0, 0.5), area=0.75, n=1))
        area 0.7500 over 1 query
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    area: float | None
    n: int

    def __str__(self) -> str:
        if self.area is None:
            return "undefined: there is no query to average"
        return f"area {self.area:.4f} over {self.n} quer{'y' if self.n == 1 else 'ies'}"

    def as_dict(self) -> dict[str, object]:
        """The curve as plain data, in the key order of the command line's JSON."""
        return plain_fields(self, "x", "y", "area")


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """What `curve` gives: a `Curve` for each run by name, the kind, and the doubts that concern all of it.

    Examples:
        >>> import ringtrue as rt
        >>> print(rt.curve({"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d2": 1}}).runs["run"])
        area 0.5000 over 1 query
    """

    kind: str
    runs: Mapping[str, Curve]
    notes: tuple[Note, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The curves as plain data, in the key order of the command line's JSON."""
        return plain_fields(self, "runs", "kind") | notes_as_dict(self.notes)


def format_estimates(estimates: Sequence[Estimate]) -> list[str]:
    """Estimates as `value ±half`, with one digit more than their standard errors support.

    Where a value is not in the middle of its interval, ± would tell ends that it has not: then the whole column has
    both ends.

    Examples:
        >>> format_estimates([Estimate(value=0.5, se=0.1, low=0.3, high=0.7, n=9, method="t")])
        ['0.50 ±0.20']
        >>> format_estimates([Estimate(value=0.9, se=0.1, low=0.7, high=1.0, n=9, method="t")])
        ['0.90 (0.70 to 1.00)']
    """
    supported = [estimate.decimals for estimate in estimates if estimate.se]
    digits = max(supported, default=3) + 1
    symmetric = all(_is_centred(estimate, digits) for estimate in estimates)
    return [_format_estimate(estimate, digits, symmetric=symmetric).replace("-", "−") for estimate in estimates]


def _is_centred(estimate: Estimate, digits: int) -> bool:
    """Whether `value ±half` tells both ends, to the last digit shown."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return True
    return round(abs(estimate.value - (estimate.low + estimate.high) / 2), digits) == 0


def _format_estimate(estimate: Estimate, digits: int, *, symmetric: bool) -> str:
    if estimate.value is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.{digits}f}"
    if symmetric:
        return f"{estimate.value:.{digits}f} ±{(estimate.high - estimate.low) / 2:.{digits}f}"
    return f"{estimate.value:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def exact_estimate(estimate: Estimate, fields: Sequence[str] = EXACT_FIELDS) -> list[str]:
    """Fields of an estimate with every digit, for CSV.

    Examples:
        >>> exact_estimate(Estimate(value=0.5, n=9, method="t"))
        ['0.5', '', '', '', '0.95', '9', 't']
    """
    return exact_cells(getattr(estimate, field) for field in fields)


def describe_intervals(columns: Sequence[Sequence[str]], level: float | None = None) -> str:
    """What stands behind the values in columns of `format_estimates`, as the end of a caption.

    Examples:
        >>> describe_intervals([["0.50 ±0.20"], ["0.90 (0.70 to 1.00)"]], 0.95)
        '; ± half of the 95% interval, or its ends in brackets'
    """
    all_cells = "".join(cell for column in columns for cell in column)
    interval = "interval" if level is None else f"{level * 100:g}% interval"
    if "±" in all_cells:
        return f"; ± half of the {interval}{', or its ends in brackets' if '(' in all_cells else ''}"
    return f"; the ends of the {interval} in brackets" if "(" in all_cells else ""


def collect_footnotes(table: Mapping[str, Mapping[str, Estimate]], *, skip: Collection[str] = ()) -> list[Note]:
    """The notes of single estimates, run by run and measure by measure; one that several have is there once.

    Notes with a code in `skip` are left out: they are said of the whole.

    Examples:
        >>> doubt = Note("single-query", "a single query: no interval can be given")
        >>> estimate = Estimate(value=0.5, n=1, method="t", notes=(doubt,))
        >>> collect_footnotes({"new": {"AP": estimate}, "old": {"AP": estimate}})
        ['AP of new and 1 more: a single query: no interval can be given']
    """
    alike: dict[tuple[str, str | None], list[Note]] = {}
    for run, estimates in table.items():
        for measure, estimate in estimates.items():
            for note in estimate.notes:
                if note.code not in skip:
                    alike.setdefault((note.code, note.subject), []).append(note.about(f"{measure} of {run}"))
    return [_merge_footnotes(notes) for notes in alike.values()]


def _merge_footnotes(notes: Sequence[Note]) -> Note:
    first, n_more = notes[0], len(notes) - 1
    if not n_more:
        return first
    if len({note.text for note in notes}) == 1:
        return first.changed(subject=f"{first.subject} and {n_more} more")
    return first.changed(text=f"{first.text} (and {n_more} more alike)")
