"""Bradley and Terry's model: the rating of every document from all matches at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ringtrue.preference.outcome_model import Outcome

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["differences", "fit", "most_likely_ties"]

TOLERANCE = 1e-9  # of a rating, in log odds
TURNS = 100
HALVINGS = 30
WEAK = 1e-6  # of a prior on how common ties are
SOLVED = 1e-3  # how far a Newton step is solved: the next one begins nearer


def fit(
    matches: Matches,
    *,
    ridge: float,
    outcome: Outcome | None = None,
    slope: FloatArray | None = None,
    start: FloatArray | None = None,
    tolerance: float = TOLERANCE,
) -> FloatArray:
    """The ratings that are most probable, in log odds, with mean 0 in every group of documents that matches join.

        maximise Σ_m w_m log P(score_m | a_m (θ_first − θ_second)) − ½ ridge Σ_i θ_i²    [Bradley52]

    The ridge is a normal prior with variance 1 / ridge: a document that never won, or always, has a rating all the
    same. `slope` is a for each match: how well its judge tells documents apart. All queries are solved together, by
    Newton's method with conjugate gradients on the sparse graph of matches; a step is halved in the queries where it
    would go too far.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> from ringtrue.tables import Preferences
        >>> votes = {"left": [*"aab"], "right": [*"bbc"], "winner": [*"abb"]}
        >>> fit(Matches.of(Preferences.of(votes)), ridge=0.25).round(3).tolist()
        [0.333, 0.5, -0.834]
    """
    from scipy.sparse.linalg import LinearOperator, cg

    outcome = outcome or Outcome()
    between = differences(matches)
    back = between.T.tocsr()
    size, count = matches.docs.height, len(matches.queries)
    query = matches.query
    of_match = query[matches.first]
    rates = np.ones(matches.size) if slope is None else slope
    ratings = np.zeros(size) if start is None else start.copy()

    def posterior(some: FloatArray) -> FloatArray:
        """The log posterior of each query."""
        said = matches.weight * outcome.log_likelihood(rates * (between @ some), matches.score, matches.tied)
        return np.bincount(of_match, weights=said, minlength=count) - ridge / 2 * np.bincount(
            query, weights=some * some, minlength=count
        )

    now = posterior(ratings)
    for _ in range(TURNS):
        z = rates * (between @ ratings)
        expected, information = outcome.moments(z)
        pull = back @ (matches.weight * rates * (matches.score - expected)) - ridge * ratings
        told = matches.weight * rates * rates * information
        own = np.bincount(matches.first, weights=told, minlength=size)
        own += np.bincount(matches.second, weights=told, minlength=size)
        curve = LinearOperator(
            (size, size), matvec=lambda some, told=told: back @ (told * (between @ some)) + ridge * some, dtype=float
        )
        scaled = LinearOperator((size, size), matvec=lambda some, own=own: some / (own + ridge), dtype=float)
        step, _ = cg(curve, pull, rtol=SOLVED, M=scaled)
        for _ in range(HALVINGS):
            then = posterior(ratings + step)
            worse = then < now - 1e-12 * np.abs(now)
            if not worse.any():
                break
            step = np.where(worse[query], step / 2, step)
        ratings, now = ratings + step, then
        if np.abs(step).max(initial=0) < tolerance:
            break
    return np.asarray(ratings.round(9) + 0.0)  # documents with the same votes are rated the same


def differences(matches: Matches) -> Any:
    """The sparse matrix from ratings to the difference in every match: 1 for its first document, −1 for the other."""
    from scipy.sparse import csr_array

    size = matches.size
    return csr_array(
        (
            np.tile([1.0, -1.0], size),
            np.stack([matches.first, matches.second], axis=1).ravel(),
            np.arange(0, 2 * size + 1, 2),
        ),
        shape=(size, matches.docs.height),
    )


def most_likely_ties(matches: Matches, z: FloatArray, start: float) -> float:
    """The most likely ν, how common ties are, where every difference z is known: expected ties are those there were.

    A very weak prior, log ν ~ N(0, 1000²), keeps it finite where all votes are ties.
    """
    ties = float(matches.weight @ matches.tied)
    nu = max(start, 1e-6)
    for _ in range(TURNS):
        chance = Outcome(ties=nu).tie(z)
        expected = float(matches.weight @ chance)
        slope = float(matches.weight @ (chance * (1 - chance)))
        step = np.clip((ties - expected - math.log(nu) * WEAK) / (slope + WEAK), -2, 2)
        nu *= float(np.exp(step))
        if abs(step) < TOLERANCE:
            break
    return nu
