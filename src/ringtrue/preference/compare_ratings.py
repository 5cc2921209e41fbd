"""All methods side by side: against gold, and in foretelling votes they have not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.messages import Note, Suggestion, notes_as_dict
from ringtrue.preference.gold_agreement import GoldComparison
from ringtrue.preference.matches import Matches
from ringtrue.preference.rate import drop_traps, group_notes, trap_notes
from ringtrue.preference.rating_methods import RatingSettings
from ringtrue.stats.intervals import require_generator
from ringtrue.tables import Preferences

if TYPE_CHECKING:
    from ringtrue.judges.votes import Repeats
    from ringtrue.preference.matches import FloatArray

RATING_METHODS: dict[str, RatingSettings] = {  # in the order of [Bashir13]'s Table 1, then what came after
    "win-rate": RatingSettings(method="win-rate", interval="none"),
    "elo": RatingSettings(method="elo", interval="none"),
    "glicko": RatingSettings(method="glicko", interval="none"),
    "elo+em": RatingSettings(method="elo", em=True, interval="none"),
    "glicko+em": RatingSettings(method="glicko", em=True, interval="none"),
    "bradley-terry": RatingSettings(interval="none"),
    "bradley-terry+em": RatingSettings(em=True, interval="none"),
    "crowd-bt": RatingSettings(by_judge="crowd-bt", interval="none"),
    "sensitivity": RatingSettings(by_judge="sensitivity", interval="none"),
}
MIN_CHANCE = 1e-12  # a chance of 0 would make one vote decide everything


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
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        columns = {"AUC": self._means("auc"), "tau": self._means("tau")}
        held_out_scores = {
            name: scores.held_out for name, scores in self.methods.items() if scores.held_out is not None
        }
        columns["log loss"] = {name: held_out.log_loss for name, held_out in held_out_scores.items()}
        columns["accuracy"] = {name: held_out.accuracy for name, held_out in held_out_scores.items()}
        filled = {title: cells for title, cells in columns.items() if any(cell is not None for cell in cells.values())}
        width = max(map(len, [*self.methods, "method"]))
        lines = ["  ".join([f"{'method':<{width}}", *(f"{title:>8}" for title in filled)])]
        for name in self.methods:
            cells = ["–" if cells[name] is None else f"{cells[name]:.3f}" for cells in filled.values()]
            lines.append("  ".join([f"{name:<{width}}", *(f"{cell:>8}" for cell in cells)]))
        return "\n".join(lines)

    def _means(self, name: Literal["auc", "tau"]) -> dict[str, float | None]:
        return {method: (getattr(scores, name) or {}).get("all") for method, scores in self.methods.items()}

    def as_dict(self) -> dict[str, object]:
        """The comparison as plain data, in the key order of the command line's JSON."""
        return {
            "methods": {name: scores.as_dict() for name, scores in self.methods.items()},
            "queries": list(self.queries),
            **notes_as_dict(self.notes),
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
        >>> comparison = compare_ratings(votes, folds=3, methods=["win-rate", "bradley-terry"])
        >>> [(name, round(scores.held_out.accuracy, 2)) for name, scores in comparison.methods.items()]
        [('win-rate', 0.89), ('bradley-terry', 0.89)]
    """
    require_generator(rng)
    if gold is None and folds is None:
        raise UsageError(
            "no-criterion",
            "methods are compared by gold judgments, by predicting held-out votes, or by both",
            suggestions=[Suggestion(gold=...), Suggestion(folds=10)],
        )
    names = (methods,) if isinstance(methods, str) else methods
    answered, trap_votes = drop_traps(Preferences.of(preferences, answered_only=True))
    votes = Matches.of(answered, repeats=repeats)
    selected = _select_methods(names, votes)
    gold_comparison = None if gold is None else GoldComparison.of(gold, votes, rel=rel)
    fold = None if folds is None else _assign_folds(votes.size, folds, rng or np.random.default_rng(0))
    return RatingComparison(
        methods={name: _score_method(settings, votes, gold_comparison, fold) for name, settings in selected.items()},
        queries=votes.queries,
        notes=(
            *trap_notes(trap_votes),
            *group_notes(votes, votes.components()),
            *_left_out_notes(names, votes),
            *(() if gold_comparison is None else gold_comparison.notes),
        ),
    )


def _select_methods(names: Sequence[str] | None, votes: Matches) -> dict[str, RatingSettings]:
    if names is not None and not names:
        raise UsageError("no-method", f"expected some of {', '.join(RATING_METHODS)}, found none", parameter="methods")
    for name in names or ():
        if name not in RATING_METHODS:
            near = did_you_mean(name, RATING_METHODS) or "; there is " + ", ".join(RATING_METHODS)
            raise UsageError("unknown-choice", f"no method '{name}'{near}", parameter="methods")
        if RATING_METHODS[name].weighs_judges and len(votes.judges) == 1:
            raise UsageError(
                "one-judge",
                f"{name} weighs judges against each other, and there is one; name them in a column 'judge'",
                parameter="methods",
            )
    if names:
        return {name: RATING_METHODS[name] for name in names}
    several = len(votes.judges) > 1
    return {name: settings for name, settings in RATING_METHODS.items() if several or not settings.weighs_judges}


def _left_out_notes(names: Sequence[str] | None, votes: Matches) -> tuple[Note, ...]:
    if names or len(votes.judges) > 1:
        return ()
    weighing = ", ".join(name for name, settings in RATING_METHODS.items() if settings.weighs_judges)
    return (Note("one-judge", f"no column names the judges: {weighing} are left out"),)


def _assign_folds(votes: int, folds: int, rng: np.random.Generator) -> FloatArray:
    """The fold of each vote, all folds of nearly the same size."""
    if votes < 2:
        raise TableError(
            "single-vote",
            "there is one vote: predicting votes from others takes two or more",
            parameter="folds",
            suggestions=[Suggestion("compares without", folds=None)],
        )
    if not 2 <= folds <= votes:
        raise UsageError(
            "out-of-range",
            f"votes are dealt into 2 folds or more, {votes:,} at most; found {folds:,}",
            parameter="folds",
            suggestions=[Suggestion("is usual", folds=10)],
        )
    return rng.permutation(np.arange(votes) % folds)


def _score_method(
    settings: RatingSettings, votes: Matches, gold_comparison: GoldComparison | None, fold: FloatArray | None
) -> MethodScores:
    held_out = None if fold is None else _predict_held_out(settings, votes, fold)
    if gold_comparison is None:
        return MethodScores(auc=None, tau=None, held_out=held_out)
    ratings = settings.rate_votes(votes).ratings
    return MethodScores(auc=gold_comparison.aucs(ratings), tau=gold_comparison.taus(ratings), held_out=held_out)


def _predict_held_out(settings: RatingSettings, votes: Matches, fold: FloatArray) -> HeldOut:
    loss, correct, predicted, decided = 0.0, 0.0, 0, 0
    for held_fold in range(int(fold.max()) + 1):
        rating_fit, unseen = settings.rate_votes(votes.keep(fold != held_fold)), votes.keep(fold == held_fold)
        chance, untied = rating_fit.expected_scores(unseen), unseen.score != 0.5
        if chance is None:  # by this method, only who is ahead
            margin = rating_fit.ratings[unseen.first] - rating_fit.ratings[unseen.second]
        else:
            margin = chance - 0.5
            clipped = np.clip(chance, MIN_CHANCE, 1 - MIN_CHANCE)
            loss -= (unseen.score * np.log(clipped) + (1 - unseen.score) * np.log(1 - clipped)).sum()
            predicted += unseen.size
        predicted_sign = np.sign(np.where(np.abs(margin) < MIN_CHANCE, 0, margin))[untied]
        actual_sign = np.sign(unseen.score[untied] - 0.5)
        correct += np.where(predicted_sign == 0, 0.5, predicted_sign == actual_sign).sum()
        decided += int(untied.sum())
    return HeldOut(
        accuracy=float(correct / decided) if decided else None,
        log_loss=float(loss / predicted) if predicted else None,
        votes=votes.size,
    )
