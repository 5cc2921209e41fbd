"""What a plan takes for granted: how good the judge is, how far queries differ, and where each number came from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ringtrue.errors import UsageError
from ringtrue.gold.designs import Population
from ringtrue.gold.planning.goals import require_share
from ringtrue.messages import Note, Suggestion

Source: TypeAlias = Literal["given", "files", "guess", "follows"]

DEFAULT_ACCURACY = (0.85, 0.9)
DEFAULT_PREVALENCE = 0.5  # where a label tells most, and most labels are needed
# Measured on the runs of TREC Deep Learning 2019 and 2021 with P@10, by people and by four model judges: the sd over
# queries is 0.51 to 0.67 of the largest there could be with that mean, and as large a part of it by either judge.
DEFAULT_RELATIVE_SD = 0.6
# There, too: the sd of the difference of two runs is 1.3 to 1.4 times what unshared documents that are drawn one by one
# would give, and 0.7 of the sd of the score.
DEFAULT_CLUSTERING = 1.3
DEFAULT_DIFFERENCE_RATIO = 0.7
SCORE_TOLERANCE = 0.02  # a score may be off by as much without a word


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumedNumber:
    """A number that a plan rests on, and whether it was given, seen in the files, guessed, or follows from others."""

    value: float
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownQuantities:
    """What is known before planning; None where nothing is. `source` is where the numbers came from.

    `score`, `sd` and `difference_sd` are by the bronze judge's labels, `prevalence` and `gold_sd` by gold's. For a
    comparison of two runs, all but `sd` are about the documents that only one of them has.
    """

    k: int = 10
    score: float | None = None
    prevalence: float | None = None
    sd: float | None = None
    gold_sd: float | None = None
    difference_sd: float | None = None
    accuracy: tuple[float, float] | None = None
    unshared: float | None = None
    sources: Mapping[str, Source] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """The quantities that the formulas need, all of them consistent with each other.

    `documents` is how many of a query gold may be asked about, `weight` what their mean counts in the measure: 1 for a
    mean over the top k, and documents / k for a difference. `shift` is the mean of gold's label with the sign of the
    run that found the document.
    """

    k: int
    documents: float
    weight: float
    score: float
    prevalence: float
    relevant: float
    nonrelevant: float
    bronze_sd: float
    gold_sd: float
    paired: bool
    shift: float = 0.0
    population: Population = "like-these"
    taken: Mapping[str, AssumedNumber] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @property
    def youden(self) -> float:
        """J = m_R + m_N − 1: 1 for a perfect judge, 0 for one who guesses."""
        return self.relevant + self.nonrelevant - 1

    @property
    def gold_if_relevant(self) -> float:
        """P, the share of what bronze calls relevant that gold does too."""
        return min(self.prevalence * self.relevant / self.score, 1.0)  # rounding may take it past 1

    @property
    def gold_if_not(self) -> float:
        """Q, the share of what bronze does not call relevant that gold does."""
        return min(self.prevalence * (1 - self.relevant) / (1 - self.score), 1.0)

    @property
    def noise(self) -> float:
        """The variance of a query's bronze score that the judge's errors make by themselves."""
        relevant_variance, nonrelevant_variance = (
            self.relevant * (1 - self.relevant),
            self.nonrelevant * (1 - self.nonrelevant),
        )
        return (
            self.weight**2
            * (self.prevalence * relevant_variance + (1 - self.prevalence) * nonrelevant_variance)
            / self.documents
        )


def assume(
    quantities: KnownQuantities, *, difference: float | None = None, population: Population = "like-these"
) -> Assumptions:
    """Everything the formulas need from what is known, with guesses for the rest, each named in a note.

        j = θ m_R + (1−θ)(1−m_N),    s_gold / √(θ(1−θ)) = s_bronze / √(j(1−j))

    The second is what real model judges show: by either judge's labels, queries differ by as large a part of what they
    could.

    Examples:
        >>> assumed = assume(KnownQuantities(score=0.626, sd=0.38, accuracy=(43 / 59, 67 / 84), k=3))
        >>> round(assumed.prevalence, 4), round(assumed.gold_if_relevant, 3), round(assumed.gold_if_not, 3)
        (0.8047, 0.937, 0.583)
    """
    _require_quantities(quantities)
    ledger = _Ledger(quantities)
    sensitivity, specificity = _resolve_accuracy(quantities, ledger)
    prevalence = _resolve_prevalence(quantities, sensitivity, specificity, ledger)
    score = _resolve_score(quantities, prevalence, sensitivity, specificity, ledger)
    if difference is None:
        documents, bronze_sd, gold_sd = _resolve_single_run(quantities, score, prevalence, ledger)
    else:
        documents, bronze_sd, gold_sd = _resolve_run_pair(quantities, score, prevalence, difference, ledger)
    weight = 1.0 if difference is None else documents / quantities.k
    return Assumptions(
        k=quantities.k,
        documents=documents,
        weight=weight,
        score=score,
        prevalence=prevalence,
        relevant=sensitivity,
        nonrelevant=specificity,
        bronze_sd=bronze_sd,
        gold_sd=gold_sd,
        paired=difference is not None,
        shift=0.0 if difference is None else difference / weight,
        population=population,
        taken=ledger.taken,
        notes=tuple(ledger.notes),
    )


class _Ledger:
    """What was taken, and a note for each guess."""

    def __init__(self, quantities: KnownQuantities) -> None:
        self.quantities = quantities
        self.taken: dict[str, AssumedNumber] = {}
        self.notes: list[Note] = []

    def record(self, name: str, value: float, source: Source) -> float:
        self.taken[name] = AssumedNumber(value=value, source=source)
        return value

    def resolve(self, name: str, value: float | None, fallback: float, guess: Note | None = None) -> float:
        """What is known, or else what follows from the rest, or a guess that this note names."""
        if value is not None:
            return self.record(name, value, self.quantities.sources.get(name, "given"))
        if guess is not None:
            self.notes.append(guess)
        return self.record(name, fallback, "follows" if guess is None else "guess")


def _require_quantities(quantities: KnownQuantities) -> None:
    if quantities.k < 1:
        raise UsageError("bad-k", f"k must be a whole number of at least 1, found {quantities.k}", parameter="k")
    names = {
        "score": "a score",
        "prevalence": "a prevalence",
        "sd": "an sd",
        "gold_sd": "an sd of the gold score",
        "difference_sd": "an sd of differences",
    }
    for parameter, what in names.items():
        value = getattr(quantities, parameter)
        if value is not None:
            require_share(what, value, parameter=parameter)
    for value in quantities.accuracy or ():
        if not 0 <= value <= 1:
            raise UsageError(
                "not-a-share",
                f"an accuracy must lie between 0 and 1, both included, found {value:g}",
                parameter="accuracy",
            )
    if quantities.unshared is not None and not 0 < quantities.unshared <= 2 * quantities.k:
        raise UsageError(
            "bad-unshared",
            f"of two runs' top {quantities.k}, more than 0 and at most {2 * quantities.k} documents of a query are "
            f"unshared, found {quantities.unshared:g}",
            parameter="unshared",
        )


def _resolve_accuracy(quantities: KnownQuantities, ledger: _Ledger) -> tuple[float, float]:
    sensitivity, specificity = quantities.accuracy or DEFAULT_ACCURACY
    source: Source = "guess" if quantities.accuracy is None else quantities.sources.get("accuracy", "given")
    if quantities.accuracy is None:
        ledger.notes.append(
            Note(
                "accuracy-guessed",
                f"how good the bronze judge is was not given: right on {sensitivity:g} of the relevant documents and "
                f"on {specificity:g} of the others is taken",
                parameter="accuracy",
                suggestions=[Suggestion("gives it", accuracy=...)],
            )
        )
    return ledger.record("relevant", sensitivity, source), ledger.record("nonrelevant", specificity, source)


def _resolve_prevalence(quantities: KnownQuantities, sensitivity: float, specificity: float, ledger: _Ledger) -> float:
    """The share of the documents that gold would call relevant: known, or what the bronze score comes to."""
    if quantities.prevalence is not None or quantities.score is None:
        guess = Note(
            "prevalence-guessed",
            f"neither a score nor a prevalence was given: a prevalence of {DEFAULT_PREVALENCE:g} is taken",
            parameter="prevalence",
            suggestions=[Suggestion(score=...), Suggestion("gives it", prevalence=...)],
        )
        return ledger.resolve("prevalence", quantities.prevalence, DEFAULT_PREVALENCE, guess)
    if sensitivity + specificity <= 1:
        guess = Note(
            "prevalence-unknown",
            f"a judge no better than chance says nothing of how many are relevant (right on {sensitivity:g}, "
            f"{specificity:g}): {DEFAULT_PREVALENCE:g} is taken",
            parameter="prevalence",
            suggestions=[Suggestion("gives it", prevalence=...)],
        )
        return ledger.resolve("prevalence", None, DEFAULT_PREVALENCE, guess)
    prevalence = (quantities.score - 1 + specificity) / (sensitivity + specificity - 1)
    if not 0 < prevalence < 1:
        raise UsageError(
            "impossible-score",
            f"a judge who is right on {sensitivity:.3g} of the relevant documents and on {specificity:.3g} of the "
            f"others calls between {1 - specificity:.3g} and {sensitivity:.3g} of the documents relevant; a score of "
            f"{quantities.score:.3g} does not fit",
            parameter="score",
            suggestions=[
                Suggestion("describes another judge", accuracy=...),
                Suggestion("gives the share that gold would call relevant", prevalence=...),
            ],
        )
    return ledger.resolve("prevalence", None, prevalence)


def _resolve_score(
    quantities: KnownQuantities, prevalence: float, sensitivity: float, specificity: float, ledger: _Ledger
) -> float:
    """The share that bronze calls relevant; where all is known and does not fit, what follows from the rest."""
    score = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
    if not 0 < score < 1:
        verdict = "relevant" if score else "not relevant"
        raise UsageError(
            "one-sided-judge",
            f"a judge who calls everything {verdict} tells nothing; plan with gold only, or another judge",
            parameter="accuracy",
        )
    if quantities.score is not None and abs(quantities.score - score) > SCORE_TOLERANCE:
        ledger.notes.append(
            Note(
                "score-replaced",
                f"the score of {quantities.score:.3g} does not fit: where {prevalence:.3g} of the documents are "
                f"relevant, a judge of these accuracies calls {score:.3g} so, and that is taken",
                parameter="score",
            )
        )
        return ledger.record("score", score, "follows")
    ledger.resolve("score", quantities.score, score)
    return score


def _resolve_single_run(
    quantities: KnownQuantities, score: float, prevalence: float, ledger: _Ledger
) -> tuple[float, float, float]:
    """For the mean of one run: the documents of a query, and the sd over queries by bronze and by gold labels."""
    mean = prevalence if quantities.score is None else score
    largest_sd = math.sqrt(mean * (1 - mean))
    usual_sd = DEFAULT_RELATIVE_SD * largest_sd
    guess = Note(
        "sd-guessed",
        f"how far P@k differs from query to query was not given: an sd of {usual_sd:.3g} is taken",
        parameter="sd",
        suggestions=[Suggestion("gives it", sd=...)],
    )
    sd = ledger.resolve("sd", quantities.sd, usual_sd, guess)
    if sd > largest_sd * 1.05:
        raise UsageError(
            "sd-too-large",
            f"an sd of {sd:.4g} is too large: scores from 0 to 1 with a mean of {mean:.4g} have an sd of "
            f"{largest_sd:.4g} at most",
            parameter="sd",
        )
    relative_sd = min(sd / largest_sd, 1.0)
    largest_gold_sd = math.sqrt(prevalence * (1 - prevalence))
    gold_sd = ledger.resolve("gold_sd", quantities.gold_sd, relative_sd * largest_gold_sd)
    return float(quantities.k), relative_sd * math.sqrt(score * (1 - score)), min(gold_sd, largest_gold_sd)


def _resolve_run_pair(
    quantities: KnownQuantities, score: float, prevalence: float, difference: float, ledger: _Ledger
) -> tuple[float, float, float]:
    """The same for the difference of two runs, and the documents that only one of them has."""
    k = quantities.k
    guess = Note(
        "unshared-guessed",
        f"how many documents of a query only one of the two runs has in its top k was not given: {k} is taken",
        parameter="unshared",
        suggestions=[Suggestion("gives it", unshared=...)],
    )
    documents = ledger.resolve("unshared", quantities.unshared, float(k), guess)
    weight = documents / k
    largest_difference = weight * min(prevalence, 1 - prevalence)
    if difference >= largest_difference:
        raise UsageError(
            "difference-too-large",
            f"a difference of {difference:g} is larger than possible: two runs with {documents:.3g} unshared documents "
            f"for a query, {prevalence:.3g} of them relevant, differ by less than {largest_difference:.3g} in P@{k}",
            parameter="difference",
        )
    binomial_gold_sd, binomial_bronze_sd = (math.sqrt(share * (1 - share)) for share in (prevalence, score))
    if quantities.sd is None:
        usual_sd = DEFAULT_CLUSTERING * math.sqrt(documents) / k * binomial_bronze_sd
    else:
        usual_sd = DEFAULT_DIFFERENCE_RATIO * quantities.sd
    guess = Note(
        "difference-sd-guessed",
        f"how far the difference varies from query to query was not given: an sd of {usual_sd:.3g} is taken",
        parameter="difference_sd",
        suggestions=[Suggestion("gives it", difference_sd=...)],
    )
    bronze_sd = ledger.resolve("difference_sd", quantities.difference_sd, usual_sd, guess)
    gold_sd = ledger.resolve("gold_sd", quantities.gold_sd, bronze_sd * binomial_gold_sd / binomial_bronze_sd)
    return documents, bronze_sd, min(gold_sd, weight * math.sqrt(prevalence - (difference / weight) ** 2))
