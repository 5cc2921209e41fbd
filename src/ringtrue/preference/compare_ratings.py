"""All methods side by side: against gold, and in foretelling votes they have not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.preference.gold_agreement import AgainstGold
from ringtrue.preference.matches import Matches
from ringtrue.preference.rate import told_of_groups, told_of_traps, without_traps
from ringtrue.preference.rating_fit import Rated
from ringtrue.preference.rating_methods import Rating
from ringtrue.stats.bootstrap import require_generator
from ringtrue.tables import Preferences

if TYPE_CHECKING:
    from ringtrue.judges.votes import Repeats
    from ringtrue.preference.matches import FloatArray

__all__ = ["WAYS", "HeldOut", "MethodScores", "RatingComparison", "compare_ratings"]

WAYS: dict[str, Rating] = {  # in the order of [Bashir13]'s Table 1, then what came after
    "win-rate": Rating(method="win-rate", interval="none"),
    "elo": Rating(method="elo", interval="none"),
    "glicko": Rating(method="glicko", interval="none"),
    "elo+em": Rating(method="elo", em=True, interval="none"),
    "glicko+em": Rating(method="glicko", em=True, interval="none"),
    "bradley-terry": Rating(interval="none"),
    "bradley-terry+em": Rating(em=True, interval="none"),
    "crowd-bt": Rating(by_judge="crowd-bt", interval="none"),
    "sensitivity": Rating(by_judge="sensitivity", interval="none"),
}
SURE = 1e-12  # a chance of 0 would make one vote decide everything


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """How well votes are foretold by ratings from other votes.

    `accuracy` is over votes that are no tie; two documents rated the same are half right. `log_loss` is the mean of
    −log of the chance that was given to what happened, a tie being half of either: 0.693 for a coin. None where a
    method gives no chances.

    Examples:
        >>> import ringtrue as rt
        >>> votes = {"left": [*"aab"] * 20, "right": [*"bcc"] * 20, "winner": [*"aab"] * 20}
        >>> rt.compare_ratings(votes, folds=5).methods["elo"].held_out.accuracy
        1.0
    """

    accuracy: float | None
    log_loss: float | None
    votes: int

    def as_dict(self) -> dict[str, object]:
        """The scores as plain data."""
        return {"log_loss": self.log_loss, "accuracy": self.accuracy, "votes": self.votes}


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodScores:
    """What one method achieves: AUC and tau of each query and, as `all`, their means; None without gold.

    Examples:
        >>> import ringtrue as rt
        >>> votes = {"left": [*"aab"], "right": [*"bcc"], "winner": [*"aab"]}
        >>> rt.compare_ratings(votes, gold={"0": {"a": 1, "b": 0, "c": 0}}).methods["elo"].auc["all"]
        1.0
    """

    auc: Mapping[str, float | None] | None
    tau: Mapping[str, float | None] | None
    held_out: HeldOut | None

    def as_dict(self) -> dict[str, object]:
        """The scores as plain data, in the key order of the command line's JSON."""
        return {
            "auc": dict(self.auc or {}),
            "tau": dict(self.tau or {}),
            "held_out": None if self.held_out is None else self.held_out.as_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingComparison:
    """What `compare_ratings` gives: `MethodScores` for each method by name.

    Examples:
        >>> import ringtrue as rt
        >>> votes = {"left": [*"aab"], "right": [*"bcc"], "winner": [*"aab"]}
        >>> print(rt.compare_ratings(votes, gold={"0": {"a": 1, "b": 0, "c": 0}}))
        method              AUC       tau
        win-rate          1.000     0.816
        elo               1.000     0.816
        glicko            1.000     0.816
        bradley-terry     1.000     0.816
    """

    methods: Mapping[str, MethodScores]
    queries: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        columns = {"AUC": self._means("auc"), "tau": self._means("tau")}
        held = {name: one.held_out for name, one in self.methods.items() if one.held_out is not None}
        columns["log loss"] = {name: one.log_loss for name, one in held.items()}
        columns["accuracy"] = {name: one.accuracy for name, one in held.items()}
        shown = {title: cells for title, cells in columns.items() if any(cell is not None for cell in cells.values())}
        wide = max(map(len, [*self.methods, "method"]))
        lines = ["  ".join([f"{'method':<{wide}}", *(f"{title:>8}" for title in shown)])]
        for name in self.methods:
            cells = ["–" if cells[name] is None else f"{cells[name]:.3f}" for cells in shown.values()]
            lines.append("  ".join([f"{name:<{wide}}", *(f"{cell:>8}" for cell in cells)]))
        return "\n".join(lines)

    def _means(self, name: Literal["auc", "tau"]) -> dict[str, float | None]:
        return {method: (getattr(one, name) or {}).get("all") for method, one in self.methods.items()}

    def as_dict(self) -> dict[str, object]:
        """The comparison as plain data, in the key order of the command line's JSON."""
        return {
            "methods": {name: one.as_dict() for name, one in self.methods.items()},
            "queries": list(self.queries),
            "notes": list(self.notes),
        }


def compare_ratings(
    preferences: object,
    *,
    gold: object | None = None,
    rel: int = 1,
    folds: int | None = None,
    methods: str | Sequence[str] | None = None,
    repeats: Repeats | None = None,
    rng: np.random.Generator | None = None,
) -> RatingComparison:
    """All methods on the same votes, as in [Bashir13]'s Table 1.

    With `gold` judgments, how well each method's ratings tell documents labelled at least `rel` from others (AUC), and
    how alike their order and that of the labels are (tau-b), query by query. With `folds`, the votes are dealt into so
    many parts at random, and each part is foretold by ratings from the others; methods that know judges foretell what
    that judge will say. `methods` names one of them or several; without it, those that weigh judges are left out where
    nothing tells judges apart.

    Examples:
        >>> votes = {"left": [*"aab"] * 9, "right": [*"bcc"] * 9, "winner": [*"aab"] * 8 + [*"bcc"]}
        >>> found = compare_ratings(votes, folds=3, methods=["win-rate", "bradley-terry"])
        >>> [(name, round(one.held_out.accuracy, 2)) for name, one in found.methods.items()]
        [('win-rate', 0.89), ('bradley-terry', 0.89)]
    """
    require_generator(rng)
    if gold is None and folds is None:
        raise UsageError("compare methods by what? Give gold judgments, or folds of votes to be foretold, or both")
    named = (methods,) if isinstance(methods, str) else methods
    asked, trapped = without_traps(Preferences.of(preferences, answered_only=True))
    votes = Matches.of(asked, repeats=repeats)
    ways = _ways(named, votes)
    known = None if gold is None else AgainstGold.of(gold, votes, rel=rel)
    fold = None if folds is None else _dealt(votes.size, folds, rng or np.random.default_rng(0))
    return RatingComparison(
        methods={name: _scores(how, votes, known, fold) for name, how in ways.items()},
        queries=votes.queries,
        notes=(
            *told_of_traps(trapped),
            *told_of_groups(votes, votes.components()),
            *_left_out(named, votes),
            *(() if known is None else known.notes),
        ),
    )


def _ways(names: Sequence[str] | None, votes: Matches) -> dict[str, Rating]:
    if names is not None and not names:
        raise UsageError(f"compare which methods? Name some of {', '.join(WAYS)}, or leave `methods` out for all")
    for name in names or ():
        if name not in WAYS:
            raise UsageError(f"no method '{name}'{did_you_mean(name, WAYS) or '; there is ' + ', '.join(WAYS)}")
        if _weighs(WAYS[name]) and len(votes.judges) == 1:
            raise UsageError(
                f"{name} weighs judges against each other, and there is one; name them in a column 'judge'"
            )
    if names:
        return {name: WAYS[name] for name in names}
    return {name: how for name, how in WAYS.items() if len(votes.judges) > 1 or not _weighs(how)}


def _weighs(how: Rating) -> bool:
    return how.em or how.by_judge is not None


def _left_out(names: Sequence[str] | None, votes: Matches) -> tuple[str, ...]:
    if names or len(votes.judges) > 1:
        return ()
    weighing = ", ".join(name for name, how in WAYS.items() if _weighs(how))
    return (f"nothing tells the judges apart: {weighing} are left out",)


def _dealt(votes: int, folds: int, rng: np.random.Generator) -> FloatArray:
    """The fold of each vote, all folds of nearly the same size."""
    if votes < 2:
        raise TableError("there is one vote: to foretell votes by others takes two or more; leave folds out (--folds)")
    if not 2 <= folds <= votes:
        raise UsageError(f"votes are dealt into 2 folds or more, {votes:,} at most; found {folds:,}; 10 is usual")
    return rng.permutation(np.arange(votes) % folds)


def _scores(how: Rating, votes: Matches, gold: AgainstGold | None, fold: FloatArray | None) -> MethodScores:
    rated = None if gold is None else how.rated(votes).ratings
    return MethodScores(
        auc=None if gold is None or rated is None else gold.areas(rated),
        tau=None if gold is None or rated is None else gold.taus(rated),
        held_out=None if fold is None else _held_out(how, votes, fold),
    )


def _held_out(how: Rating, votes: Matches, fold: FloatArray) -> HeldOut:
    loss, right, foretold, decided = 0.0, 0.0, 0, 0
    for one in range(int(fold.max()) + 1):
        rated, unseen = how.rated(votes.keep(fold != one)), votes.keep(fold == one)
        lost = _log_loss(rated, unseen)
        loss, foretold = loss + lost.sum(), foretold + len(lost)
        clear = unseen.score != 0.5
        ahead = _ahead(rated, unseen)[clear]
        won = np.sign(unseen.score[clear] - 0.5)
        right, decided = right + np.where(ahead == 0, 0.5, ahead == won).sum(), decided + int(clear.sum())
    return HeldOut(
        accuracy=float(right / decided) if decided else None,
        log_loss=float(loss / foretold) if foretold else None,
        votes=votes.size,
    )


def _log_loss(rated: Rated, unseen: Matches) -> FloatArray:
    """−log of the chance given to each vote, a tie half a win; nothing where the method gives no chances."""
    chance = rated.expected(unseen)
    if chance is None:
        return np.empty(0)
    sure = np.clip(chance, SURE, 1 - SURE)
    return np.asarray(-(unseen.score * np.log(sure) + (1 - unseen.score) * np.log(1 - sure)))


def _ahead(rated: Rated, unseen: Matches) -> FloatArray:
    """1 where the first document is foretold to win, −1 where the other is, 0 where neither."""
    chance = rated.expected(unseen)
    apart = rated.ratings[unseen.first] - rated.ratings[unseen.second] if chance is None else chance - 0.5
    return np.sign(np.where(np.abs(apart) < SURE, 0, apart))
