"""How likely each outcome of a match is, given how far apart two documents are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.preference.matches import FloatArray

__all__ = ["Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Bradley and Terry's model of a match, with Davidson's ties where `ties` is above 0.

        P(win) : P(tie) : P(loss) = e^(z/2) : ν : e^(−z/2)    [Bradley52] [Davidson70]

    z is by how much the first document is better, in log odds; ν says how common ties are. With ν = 0 a tie is half a
    win and half a loss. All follows from log Z, Z = e^(z/2) + ν + e^(−z/2): its first derivative is the expected
    score less ½, its second what a vote says about z.

    Examples:
        >>> Outcome().expected(np.array([0.0, np.log(3)])).tolist()
        [0.5, 0.75]
        >>> Outcome(ties=2.0).tie(np.array([0.0])).tolist()
        [0.5]
    """

    ties: float = 0.0

    def expected(self, z: FloatArray) -> FloatArray:
        """The score to expect: the chance of a win and half that of a tie."""
        return self.moments(z)[0]

    def information(self, z: FloatArray) -> FloatArray:
        """What one vote says about z: the variance of its score."""
        return self.moments(z)[1]

    def moments(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The score to expect and its variance."""
        small, total = self._parts(z)
        tilt = np.sign(z) * (1 - small) / total / 2
        return 0.5 + tilt, (1 + small) / total / 4 - tilt * tilt

    def log_likelihood(self, z: FloatArray, score: FloatArray, tied: FloatArray) -> FloatArray:
        """Of one vote; a share of votes counts as so much of one."""
        _, total = self._parts(z)
        said = (score - 0.5) * z - np.abs(z) / 2 - np.log(total)
        return said + tied * np.log(self.ties) if self.ties > 0 else said

    def chances(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The chances of a win, a tie and a loss."""
        tie, expected = self.tie(z), self.expected(z)
        return expected - tie / 2, tie, 1 - expected - tie / 2

    def tie(self, z: FloatArray) -> FloatArray:
        """The chance of a tie."""
        _, total = self._parts(z)
        return self.ties * np.exp(-np.abs(z) / 2) / total

    def _parts(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """e^(−|z|), and Z divided by its greatest term, which would overflow."""
        half = np.exp(-np.abs(z) / 2)
        return half * half, 1 + half * half + self.ties * half
