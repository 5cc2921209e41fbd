"""How likely each outcome of a match is, given how far apart two documents are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.preference.matches import FloatArray


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
