"""Bradley and Terry's model: the rating of every document from all matches at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringtrue.preference.matches import FloatArray, Matches

TOLERANCE = 1e-9  # of a rating, in log odds
MAX_ITERATIONS = 100
MAX_HALVINGS = 30
TIE_PRIOR_PRECISION = 1e-6  # of a prior on how common ties are
CG_TOLERANCE = 1e-3  # how far a Newton step is solved: the next one begins nearer


@dataclass(frozen=True, slots=True)
class OutcomeModel:
    """Bradley and Terry's model of a match, with Davidson's ties where `ties` is above 0.

        P(win) : P(tie) : P(loss) = e^(z/2) : ν : e^(−z/2)    [Bradley52] [Davidson70]

    z is by how much the first document is better, in log odds; ν says how common ties are. With ν = 0 a tie is half a
    win and half a loss. All follows from log Z, Z = e^(z/2) + ν + e^(−z/2): its first derivative is the expected
    score less ½, its second what a vote says about z.

    Examples:
        >>> OutcomeModel().expected_score(np.array([0.0, np.log(3)])).tolist()
        [0.5, 0.75]
        >>> OutcomeModel(ties=2.0).tie_probability(np.array([0.0])).tolist()
        [0.5]
    """

    ties: float = 0.0

    def expected_score(self, z: FloatArray) -> FloatArray:
        """The score to expect: the chance of a win and half that of a tie."""
        return self.moments(z)[0]

    def information(self, z: FloatArray) -> FloatArray:
        """What one vote says about z: the variance of its score."""
        return self.moments(z)[1]

    def moments(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The score to expect and its variance."""
        exp_neg, total = self._scaled_partition(z)
        tilt = np.sign(z) * (1 - exp_neg) / total / 2
        return 0.5 + tilt, (1 + exp_neg) / total / 4 - tilt * tilt

    def log_likelihood(self, z: FloatArray, score: FloatArray, tied: FloatArray) -> FloatArray:
        """Of one vote; a share of votes counts as so much of one."""
        _, total = self._scaled_partition(z)
        log_p = (score - 0.5) * z - np.abs(z) / 2 - np.log(total)
        return log_p + tied * np.log(self.ties) if self.ties > 0 else log_p

    def probabilities(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The chances of a win, a tie and a loss."""
        tie, expected = self.tie_probability(z), self.expected_score(z)
        return expected - tie / 2, tie, 1 - expected - tie / 2

    def tie_probability(self, z: FloatArray) -> FloatArray:
        """The chance of a tie."""
        _, total = self._scaled_partition(z)
        return self.ties * np.exp(-np.abs(z) / 2) / total

    def _scaled_partition(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """e^(−|z|), and Z divided by its greatest term, which would overflow."""
        half = np.exp(-np.abs(z) / 2)
        return half * half, 1 + half * half + self.ties * half


def fit_bradley_terry(
    matches: Matches,
    *,
    ridge: float,
    outcome: OutcomeModel | None = None,
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
        >>> votes = {"left": [*"aab"], "right": [*"bbc"], "winner": [*"abb"]}
        >>> fit_bradley_terry(Matches.of(votes), ridge=0.25).round(3).tolist()
        [0.333, 0.5, -0.834]
    """
    from scipy.sparse.linalg import LinearOperator, cg

    outcome = outcome or OutcomeModel()
    design = difference_matrix(matches)
    design_t = design.T.tocsr()
    n_docs, n_queries = matches.docs.height, len(matches.queries)
    query = matches.query
    match_query = query[matches.first]
    slopes = np.ones(matches.size) if slope is None else slope
    ratings = np.zeros(n_docs) if start is None else start.copy()

    def log_posterior(theta: FloatArray) -> FloatArray:
        """The log posterior of each query."""
        log_p = matches.weight * outcome.log_likelihood(slopes * (design @ theta), matches.score, matches.tied)
        return np.bincount(match_query, weights=log_p, minlength=n_queries) - ridge / 2 * np.bincount(
            query, weights=theta * theta, minlength=n_queries
        )

    objective = log_posterior(ratings)
    for _ in range(MAX_ITERATIONS):
        z = slopes * (design @ ratings)
        expected, information = outcome.moments(z)
        gradient = design_t @ (matches.weight * slopes * (matches.score - expected)) - ridge * ratings
        match_information = matches.weight * slopes * slopes * information
        diagonal = np.bincount(matches.first, weights=match_information, minlength=n_docs)
        diagonal += np.bincount(matches.second, weights=match_information, minlength=n_docs)
        hessian = LinearOperator(
            (n_docs, n_docs),
            matvec=lambda vector, match_information=match_information: (
                design_t @ (match_information * (design @ vector)) + ridge * vector
            ),
            dtype=float,
        )
        preconditioner = LinearOperator(
            (n_docs, n_docs), matvec=lambda vector, diagonal=diagonal: vector / (diagonal + ridge), dtype=float
        )
        step, _ = cg(hessian, gradient, rtol=CG_TOLERANCE, M=preconditioner)
        for _ in range(MAX_HALVINGS):
            proposed = log_posterior(ratings + step)
            worse = proposed < objective - 1e-12 * np.abs(objective)
            if not worse.any():
                break
            step = np.where(worse[query], step / 2, step)
        ratings, objective = ratings + step, proposed
        if np.abs(step).max(initial=0) < tolerance:
            break
    return np.asarray(ratings.round(9) + 0.0)  # documents with the same votes are rated the same


def difference_matrix(matches: Matches) -> Any:
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


def fit_tie_parameter(matches: Matches, z: FloatArray, start: float) -> float:
    """The most likely ν, how common ties are, where every difference z is known: expected ties are those there were.

    A very weak prior, log ν ~ N(0, 1000²), keeps it finite where all votes are ties.
    """
    ties = float(matches.weight @ matches.tied)
    nu = max(start, 1e-6)
    for _ in range(MAX_ITERATIONS):
        chance = OutcomeModel(ties=nu).tie_probability(z)
        expected = float(matches.weight @ chance)
        slope = float(matches.weight @ (chance * (1 - chance)))
        step = np.clip((ties - expected - math.log(nu) * TIE_PRIOR_PRECISION) / (slope + TIE_PRIOR_PRECISION), -2, 2)
        nu *= float(np.exp(step))
        if abs(step) < TOLERANCE:
            break
    return nu
