"""What a plan takes for granted: how good the judge is, how far queries differ, and where each number came from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ringtrue.errors import UsageError
from ringtrue.gold.planning.goals import require_share

__all__ = ["Assumptions", "Known", "Population", "Source", "Taken", "assume"]

Population: TypeAlias = Literal["like-these", "these"]
Source: TypeAlias = Literal["given", "files", "guess", "follows"]

USUAL_ACCURACY = (0.85, 0.9)
USUAL_SCORE = 0.5  # where a label tells most, and most labels are needed
# Measured on the runs of TREC Deep Learning 2019 and 2021 with P@10, by people and by four model judges: the sd over
# queries is 0.51 to 0.67 of the largest there could be with that mean, and as large a part of it by either judge.
USUAL_SPREAD = 0.6
# There, too: the sd of the difference of two runs is 1.3 to 1.4 times what unshared documents that are drawn one by one
# would give, and 0.7 of the sd of the score.
USUAL_CLUSTERING = 1.3
USUAL_DIFFERENCE = 0.7
FITS = 0.02  # a score may be off by as much without a word


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A number that a plan rests on, and whether it was given, seen in the files, guessed, or follows from others."""

    value: float
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
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
    taken: Mapping[str, Taken] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

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
        right, wrong = self.relevant * (1 - self.relevant), self.nonrelevant * (1 - self.nonrelevant)
        return self.weight**2 * (self.prevalence * right + (1 - self.prevalence) * wrong) / self.documents


def assume(known: Known, *, difference: float | None = None, population: Population = "like-these") -> Assumptions:
    """Everything the formulas need from what is known, with guesses for the rest, each named in a note.

        j = θ m_R + (1−θ)(1−m_N),    s_gold / √(θ(1−θ)) = s_bronze / √(j(1−j))

    The second is what real model judges show: by either judge's labels, queries differ by as large a part of what they
    could.

    Examples:
        >>> found = assume(Known(score=0.626, sd=0.38, accuracy=(43 / 59, 67 / 84), k=3))
        >>> round(found.prevalence, 4), round(found.gold_if_relevant, 3), round(found.gold_if_not, 3)
        (0.8047, 0.937, 0.583)
    """
    _require(known)
    book = _Book(known)
    right, wrong = _accuracy(known, book)
    prevalence = _prevalence(known, right, wrong, book)
    score = _score(known, prevalence, right, wrong, book)
    if difference is None:
        documents, bronze_sd, gold_sd = _alone(known, score, prevalence, book)
    else:
        documents, bronze_sd, gold_sd = _paired(known, score, prevalence, difference, book)
    weight = 1.0 if difference is None else documents / known.k
    return Assumptions(
        k=known.k, documents=documents, weight=weight, score=score, prevalence=prevalence, relevant=right,
        nonrelevant=wrong, bronze_sd=bronze_sd, gold_sd=gold_sd, paired=difference is not None,
        shift=0.0 if difference is None else difference / weight, population=population, taken=book.taken,
        notes=tuple(book.notes),
    )  # fmt: skip


class _Book:
    """What was taken, and a note for each guess."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.taken: dict[str, Taken] = {}
        self.notes: list[str] = []

    def put(self, name: str, value: float, source: Source) -> float:
        self.taken[name] = Taken(value=value, source=source)
        return value

    def known_or(self, name: str, value: float | None, other: float, guess: str = "") -> float:
        """What is known, or else what follows from the rest, or a guess that is told in these words."""
        if value is not None:
            return self.put(name, value, self.known.sources.get(name, "given"))
        if guess:
            self.notes.append(f"{guess}: {other:.3g} is taken")
        return self.put(name, other, "guess" if guess else "follows")


def _require(known: Known) -> None:
    if known.k < 1:
        raise UsageError(f"k must be a whole number of at least 1, found {known.k}")
    shares = {"a score": known.score, "a prevalence": known.prevalence}
    shares |= {"an sd": known.sd, "an sd of the gold score": known.gold_sd, "an sd of differences": known.difference_sd}
    for what, value in shares.items():
        if value is not None:
            require_share(what, value)
    for value in known.accuracy or ():
        require_share("an accuracy", value, ends=True)
    if known.unshared is not None and not 0 < known.unshared <= 2 * known.k:
        raise UsageError(
            f"of two runs' top {known.k}, more than 0 and at most {2 * known.k} documents of a query are unshared, "
            f"found {known.unshared:g}"
        )


def _accuracy(known: Known, book: _Book) -> tuple[float, float]:
    right, wrong = known.accuracy or USUAL_ACCURACY
    source: Source = "guess" if known.accuracy is None else known.sources.get("accuracy", "given")
    if known.accuracy is None:
        book.notes.append(
            f"how good the bronze judge is was not given (--accuracy): right on {right:g} of the relevant documents "
            f"and on {wrong:g} of the others is taken"
        )
    return book.put("relevant", right, source), book.put("nonrelevant", wrong, source)


def _prevalence(known: Known, right: float, wrong: float, book: _Book) -> float:
    """The share of the documents that gold would call relevant: known, or what the bronze score comes to."""
    if known.prevalence is not None or known.score is None:
        words = "neither a score nor a prevalence was given"
        return book.known_or("prevalence", known.prevalence, USUAL_SCORE, words)
    if right + wrong <= 1:
        words = f"a judge no better than chance says nothing of how many are relevant (right on {right:g}, {wrong:g})"
        return book.known_or("prevalence", None, USUAL_SCORE, words)
    prevalence = (known.score - 1 + wrong) / (right + wrong - 1)
    if not 0 < prevalence < 1:
        raise UsageError(
            f"a judge who is right on {right:.3g} of the relevant documents and on {wrong:.3g} of the others calls "
            f"between {1 - wrong:.3g} and {right:.3g} of the documents relevant; a score of {known.score:.3g} does not "
            f"fit. Give another accuracy (--accuracy) or the share that gold would call relevant (--prevalence)"
        )
    return book.known_or("prevalence", None, prevalence)


def _score(known: Known, prevalence: float, right: float, wrong: float, book: _Book) -> float:
    """The share that bronze calls relevant; where all is known and does not fit, what follows from the rest."""
    score = prevalence * right + (1 - prevalence) * (1 - wrong)
    if not 0 < score < 1:
        says = "relevant" if score else "not relevant"
        raise UsageError(f"a judge who calls everything {says} tells nothing; plan with gold only, or another judge")
    if known.score is not None and abs(known.score - score) > FITS:
        book.notes.append(
            f"the score of {known.score:.3g} does not fit: where {prevalence:.3g} of the documents are relevant, a "
            f"judge of these accuracies calls {score:.3g} so, and that is taken"
        )
        return book.put("score", score, "follows")
    book.known_or("score", known.score, score)
    return score


def _alone(known: Known, score: float, prevalence: float, book: _Book) -> tuple[float, float, float]:
    """For the mean of one run: the documents of a query, and the sd over queries by bronze and by gold labels."""
    mean = prevalence if known.score is None else score
    largest = math.sqrt(mean * (1 - mean))
    words = "how far P@k differs from query to query was not given (--sd)"
    sd = book.known_or("sd", known.sd, USUAL_SPREAD * largest, words)
    if sd > largest * 1.05:
        raise UsageError(
            f"an sd of {sd:.4g} is too large: scores from 0 to 1 with a mean of {mean:.4g} have an sd of {largest:.4g} "
            "at most"
        )
    part = min(sd / largest, 1.0)
    possible = math.sqrt(prevalence * (1 - prevalence))
    gold_sd = book.known_or("gold_sd", known.gold_sd, part * possible)
    return float(known.k), part * math.sqrt(score * (1 - score)), min(gold_sd, possible)


def _paired(
    known: Known, score: float, prevalence: float, difference: float, book: _Book
) -> tuple[float, float, float]:
    """The same for the difference of two runs, and the documents that only one of them has."""
    k = known.k
    words = "how many documents of a query only one of the two runs has in its top k was not given (--unshared)"
    documents = book.known_or("unshared", known.unshared, float(k), words)
    weight = documents / k
    most = weight * min(prevalence, 1 - prevalence)
    if difference >= most:
        raise UsageError(
            f"a difference of {difference:g} is larger than possible: two runs with {documents:.3g} unshared documents "
            f"for a query, {prevalence:.3g} of them relevant, differ by less than {most:.3g} in P@{k}"
        )
    possible, by_bronze = (math.sqrt(share * (1 - share)) for share in (prevalence, score))
    usual = USUAL_CLUSTERING * math.sqrt(documents) / k * by_bronze
    words = "how far the difference varies from query to query was not given (--difference-sd)"
    bronze_sd = book.known_or(
        "difference_sd", known.difference_sd, usual if known.sd is None else USUAL_DIFFERENCE * known.sd, words
    )
    gold_sd = book.known_or("gold_sd", known.gold_sd, bronze_sd * possible / by_bronze)
    return documents, bronze_sd, min(gold_sd, weight * math.sqrt(prevalence - (difference / weight) ** 2))
