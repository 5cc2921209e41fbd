"""What is found about a judge, piece by piece, the report made of it, and that on all judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.formatting.phrases import join_first_few
from ringtrue.messages import Note, notes_as_dict
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate, plain_fields, to_plain

if TYPE_CHECKING:
    import polars as pl

Against: TypeAlias = Literal["gold", "consensus"]
FlagKind: TypeAlias = Literal[
    "worse", "guessing", "one label", "lenient", "strict", "traps", "too fast", "side bias", "drift", "inconsistent"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What leaving a judge out would do to the others' labels.

    `changed` items get another majority label (of labels that tie, the lowest), `lost` items are left with no label
    at all. `alpha` is Krippendorff's alpha, nominal, of all judges and `alpha_without` that of the others;
    `accuracy` and `accuracy_without` are how often the majority label is the gold one, on `gold` items. None where
    undefined.
    """

    items: int
    changed: int
    lost: int
    alpha: float | None
    alpha_without: float | None
    accuracy: float | None = None
    accuracy_without: float | None = None
    gold: int = 0

    def __str__(self) -> str:
        same = f"changes the majority label of {self.changed:,} of {self.items:,} items"
        phrases = [same if self.changed else "changes no majority label"]
        if self.lost:
            phrases.append(f"leaves {self.lost:,} {'item' if self.lost == 1 else 'items'} without a label")
        if self.alpha is not None and self.alpha_without is not None:
            phrases.append(f"moves nominal alpha from {self.alpha:.4f} to {self.alpha_without:.4f}".replace("-", "−"))
        if self.accuracy is not None and self.accuracy_without is not None:
            before, after = (f"{100 * share:.2f}%" for share in (self.accuracy, self.accuracy_without))
            moved = f"moves the majority's accuracy on {self.gold:,} gold items from {before} to {after}"
            phrases.append(moved if before != after else f"leaves the majority's accuracy on gold at {before}")
        return "without this judge: " + "; ".join(phrases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A reason to look at a judge, in words with its numbers; never a reason to drop one unseen.

    `p_adjusted` is Holm's, for all judges that this kind of flag was asked about; `effect` is what leaving the judge
    out would do.

    Examples:
        >>> effect = Effect(items=100, changed=3, lost=0, alpha=0.51, alpha_without=0.55)
        >>> print(Flag(kind="guessing", reason="right on 31% where the others are on 80%", p_adjusted=0.001,
        ...            effect=effect))
        guessing: right on 31% where the others are on 80%
    """

    kind: FlagKind
    reason: str
    p_adjusted: float
    effect: Effect

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Traps:
    """How often a judge said of a trap what is known; `accepted` of `batches` that had traps passed enough of them.

    `guessing` is the chance that a batch of such a size is accepted when every trap is guessed.
    """

    passed: int
    n: int
    rate: Estimate
    accepted: int
    batches: int
    guessing: float | None

    def as_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        plain = plain_fields(self)
        plain["guessing_accepted"] = plain.pop("guessing")
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The median of seconds for a label; `source` is the column `seconds`, or gaps between stamps in `time`."""

    median: float
    n: int
    source: Literal["seconds", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBias:
    """How often the left document won where a side did; `p_value` is that of the exact test against one half."""

    left: Estimate
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Accuracy in the first and in the second half of a judge's labels in order of time, and the change.

    `others_change` is how the others' accuracy changes between the same items. `p_value` is for the change that is
    left when each item's own share of right labels is taken off: the items of one half may be harder.
    """

    first: Estimate
    second: Estimate
    change: Estimate
    others_change: float | None
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeReport:
    """What is known about one judge.

    `accuracy` is against gold where this judge met gold items, else against the consensus of the others; `against`
    says which, and `others_accuracy` is that of the others on the same items. `chance` is the accuracy that the
    judge's own labels would have if they were shuffled among the items. `leniency` is the mean label less the mean
    of the others' labels on the same items. What the data cannot tell is None, or an estimate with a note.

    Examples:
        >>> import ringtrue as rt
        >>> table = {"item": list("aabbcc"), "judge": list("xyxyxy"), "label": [1, 1, 0, 0, 1, 0]}
        >>> x = rt.judge_quality(table, gold={"item": list("abc"), "label": [1, 0, 0]})["x"]
        >>> x.against, x.accuracy.value, x.confusion.counts.tolist()
        ('gold', 0.6666666666666666, [[1, 1], [0, 1]])
    """

    judge: str
    labels: int
    items: int
    accuracy: Estimate
    against: Against | None
    others_accuracy: float | None
    chance: float | None
    gold_accuracy: Estimate | None
    consensus_accuracy: Estimate
    confusion: Confusion
    leniency: Estimate | None
    self_consistency: Estimate | None
    traps: Traps | None
    speed: Speed | None
    side_bias: SideBias | None
    drift: Drift | None
    common_label: int
    common_share: float
    flags: tuple[Flag, ...] = ()
    notes: tuple[Note, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The report as plain data, in the key order of the command line's JSON."""
        return plain_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeQuality:
    """What `judge_quality` gives: a report on every judge, in order of appearance, and on all of them together.

    `accuracy` is over all labels, `alpha` Krippendorff's nominal alpha, and `majority_accuracy` how often the
    majority label is the gold one. `quality["ann"]` is one judge's report; `flagged` holds those to look at.

    Examples:
        >>> import ringtrue as rt
        >>> table = {"item": list("aaabbb"), "judge": list("xyzxyz"), "label": [1, 1, 1, 0, 0, 1]}
        >>> print(rt.judge_quality(table))
        3 judges, 6 labels of 2 items; accuracy against the consensus of the others 0.7 (95% CI ...);
        nobody is flagged
    """

    judges: tuple[JudgeReport, ...]
    labels: int
    items: int
    accuracy: Estimate
    against: Against | None
    alpha: float | None
    majority_accuracy: Estimate | None
    level: float
    notes: tuple[Note, ...] = ()

    def __iter__(self) -> Iterator[JudgeReport]:
        return iter(self.judges)

    def __len__(self) -> int:
        return len(self.judges)

    def __getitem__(self, judge: str) -> JudgeReport:
        for report in self.judges:
            if report.judge == judge:
                return report
        names = [report.judge for report in self.judges]
        near = did_you_mean(judge, names) or f"; there is {names[0]}"
        raise UsageError("unknown-judge", f"no judge '{judge}' here{near}")

    def __str__(self) -> str:
        against = {"gold": "gold", "consensus": "the consensus of the others", None: "nothing"}[self.against]
        accuracy_phrase = f"; accuracy against {against} {self.accuracy}" if self.against else ""
        names = [report.judge for report in self.flagged]
        return (
            f"{len(self)} judge{'s' * (len(self) != 1)}, {self.labels:,} labels of {self.items:,} items"
            f"{accuracy_phrase}; "
            + (f"to look at: {join_first_few(names, limit=10)}" if names else "nobody is flagged")
        )

    @property
    def flagged(self) -> tuple[JudgeReport, ...]:
        """The judges with a flag, the worst first."""
        return tuple(report for report in self.worst_first if report.flags)

    @property
    def worst_first(self) -> tuple[JudgeReport, ...]:
        """All judges: those with flags first, then by the upper end of their accuracy's interval."""

        def sort_key(report: JudgeReport) -> tuple[bool, float, float]:
            high = report.accuracy.high
            return not report.flags, 2.0 if high is None else high, -(report.accuracy.n or 0)

        return tuple(sorted(self.judges, key=sort_key))

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each judge, estimates in columns of their own."""
        import polars as pl

        return pl.DataFrame([_report_row(report) for report in self.judges], infer_schema_length=None)

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        return {
            "judges": to_plain(self.judges),
            "overall": {
                "judges": len(self),
                "labels": self.labels,
                "items": self.items,
                "accuracy": self.accuracy.as_dict(),
                "against": self.against,
                "alpha_nominal": self.alpha,
                "majority_accuracy": to_plain(self.majority_accuracy),
                "flagged": [report.judge for report in self.flagged],
            },
            **notes_as_dict(self.notes),
        }


def _report_row(report: JudgeReport) -> dict[str, object]:
    traps, speed, side_bias, drift = report.traps, report.speed, report.side_bias, report.drift

    def columns(name: str, estimate: Estimate | None) -> dict[str, object]:
        ends = (None,) * 4 if estimate is None else (estimate.value, estimate.low, estimate.high, estimate.n)
        return dict(zip((name, f"{name}_low", f"{name}_high", f"{name}_n"), ends, strict=True))

    return {
        **{name: getattr(report, name) for name in ("judge", "labels", "items", "against")},
        **columns("accuracy", report.accuracy),
        "others_accuracy": report.others_accuracy,
        "chance": report.chance,
        **columns("gold_accuracy", report.gold_accuracy),
        **columns("consensus_accuracy", report.consensus_accuracy),
        **columns("leniency", report.leniency),
        **columns("self_consistency", report.self_consistency),
        "traps_passed": traps.passed if traps else None,
        "traps": traps.n if traps else None,
        "batches_accepted": traps.accepted if traps else None,
        "batches": traps.batches if traps else None,
        "seconds": speed.median if speed else None,
        **columns("left_share", side_bias.left if side_bias else None),
        **columns("drift", drift.change if drift else None),
        "common_label": report.common_label,
        "common_share": report.common_share,
        "flags": "; ".join(flag.kind for flag in report.flags),
        "reasons": "; ".join(flag.reason for flag in report.flags),
    }
