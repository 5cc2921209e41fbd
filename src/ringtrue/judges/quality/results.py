"""What comes out when judges are looked at: a report on each, and on all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.formatting.phrases import join_first_few
from ringtrue.judges.quality.judge_findings import Against, Drift, Flag, SideBias, Speed, Traps
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    import polars as pl


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
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The report as plain data, in the key order of the command line's JSON."""

        def plain(finding: Estimate | Traps | Drift | None) -> dict[str, object] | None:
            return None if finding is None else finding.as_dict()

        return {
            "judge": self.judge,
            "labels": self.labels,
            "items": self.items,
            "accuracy": self.accuracy.as_dict(),
            "against": self.against,
            "others_accuracy": self.others_accuracy,
            "chance": self.chance,
            "gold_accuracy": plain(self.gold_accuracy),
            "consensus_accuracy": self.consensus_accuracy.as_dict(),
            "confusion": self.confusion.as_dict(),
            "leniency": plain(self.leniency),
            "self_consistency": plain(self.self_consistency),
            "traps": plain(self.traps),
            "speed": asdict(self.speed) if self.speed else None,
            "side_bias": asdict(self.side_bias) | {"left": self.side_bias.left.as_dict()} if self.side_bias else None,
            "drift": plain(self.drift),
            "common_label": self.common_label,
            "common_share": self.common_share,
            "flags": [asdict(flag) for flag in self.flags],
            "notes": list(self.notes),
        }


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
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[JudgeReport]:
        return iter(self.judges)

    def __len__(self) -> int:
        return len(self.judges)

    def __getitem__(self, judge: str) -> JudgeReport:
        for report in self.judges:
            if report.judge == judge:
                return report
        names = [report.judge for report in self.judges]
        raise UsageError(f"no judge '{judge}' here{did_you_mean(judge, names) or f'; there is {names[0]}'}")

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
            "judges": [report.as_dict() for report in self.judges],
            "overall": {
                "judges": len(self),
                "labels": self.labels,
                "items": self.items,
                "accuracy": self.accuracy.as_dict(),
                "against": self.against,
                "alpha_nominal": self.alpha,
                "majority_accuracy": self.majority_accuracy.as_dict() if self.majority_accuracy else None,
                "flagged": [report.judge for report in self.flagged],
            },
            "notes": list(self.notes),
        }


def _report_row(report: JudgeReport) -> dict[str, object]:
    row: dict[str, object] = {
        "judge": report.judge,
        "labels": report.labels,
        "items": report.items,
        "against": report.against,
    }

    def put_estimate(name: str, estimate: Estimate | None) -> None:
        row[name] = estimate.value if estimate else None
        row[f"{name}_low"] = estimate.low if estimate else None
        row[f"{name}_high"] = estimate.high if estimate else None
        row[f"{name}_n"] = estimate.n if estimate else None

    put_estimate("accuracy", report.accuracy)
    row |= {"others_accuracy": report.others_accuracy, "chance": report.chance}
    put_estimate("gold_accuracy", report.gold_accuracy)
    put_estimate("consensus_accuracy", report.consensus_accuracy)
    put_estimate("leniency", report.leniency)
    put_estimate("self_consistency", report.self_consistency)
    traps, speed = report.traps, report.speed
    row |= {
        "traps_passed": traps.passed if traps else None,
        "traps": traps.n if traps else None,
        "batches_accepted": traps.accepted if traps else None,
        "batches": traps.batches if traps else None,
        "seconds": speed.median if speed else None,
    }
    put_estimate("left_share", report.side_bias.left if report.side_bias else None)
    put_estimate("drift", report.drift.change if report.drift else None)
    row |= {"common_label": report.common_label, "common_share": report.common_share}
    row |= {
        "flags": "; ".join(flag.kind for flag in report.flags),
        "reasons": "; ".join(f.reason for f in report.flags),
    }
    return row
