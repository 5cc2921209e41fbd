"""What is found about a judge, piece by piece: flags, traps, speed, sides, change over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ringtrue.stats.results import Estimate

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
        return {
            "passed": self.passed,
            "n": self.n,
            "rate": self.rate.as_dict(),
            "accepted": self.accepted,
            "batches": self.batches,
            "guessing_accepted": self.guessing,
        }


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

    def as_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {
            "first": self.first.as_dict(),
            "second": self.second.as_dict(),
            "change": self.change.as_dict(),
            "others_change": self.others_change,
            "p_value": self.p_value,
        }
