"""What comes out when runs are ordered by two judges."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ringtrue.messages import Note
from ringtrue.stats.rank_correlation import rbo


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A run's mean and rank by either judge; runs with the same mean share the better rank.

    Examples:
        >>> Standing(run="bm25", mean=0.48, rank=2, versus_mean=0.61, versus_rank=1).rank
        2
    """

    run: str
    mean: float
    rank: int
    versus_mean: float
    versus_rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A pair of runs, `a` not below `b` by the first judge, and how often the two judges order it differently.

    `share` is how often they do in resamples of the queries, `flipped` whether they do on all queries.
    `difference` and `versus_difference` are mean(a) − mean(b) by the first and the second judge. `noise` and
    `versus_noise` are how often each judge alone departs from its own order on all queries in the same
    resamples: what few queries do without any help from the other judge.

    Examples:
        >>> Flip(a="neural", b="bm25", share=0.97, flipped=True, difference=0.1, versus_difference=-0.1,
        ...     noise=0.01, versus_noise=0.02).flipped
        True
    """

    a: str
    b: str
    share: float
    flipped: bool
    difference: float
    versus_difference: float
    noise: float
    versus_noise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How far the order of the runs by one measure survives a change of judge.

    `tau`, `tau_ap` (the first judge's order is the reference) and `rbo` compare the orders by mean; tau is None
    where a judge ties all runs, and a note says so. `tau_range` holds the middle `level` of tau over resamples
    of the queries: it describes these resamples and is no confidence interval. `same_winner` is the share of
    resamples in which both judges put the same run first, `winner_noise` that in which the first judge alone
    puts another first than on all queries. `standings` are in the first judge's order, `flips` hold every pair,
    the one most often ordered differently first.

    Examples:
        >>> first = Standing(run="bm25", mean=0.5, rank=1, versus_mean=0.4, versus_rank=1)
        >>> second = Standing(run="tfidf", mean=0.4, rank=2, versus_mean=0.4, versus_rank=1)
        >>> print(Stability(measure="RR", tau=None, tau_range=None, tau_ap=0.0, rbo=0.95,
        ...     same_winner=0.5, winner_noise=0.1, standings=(first, second), flips=(), queries=50, resamples=1000,
        ...     level=0.95, persistence=0.9))
        RR over 50 queries: tau undefined, tau_AP 0.000, RBO 0.950; bm25 comes first by the first judge,
        bm25 and tfidf by the second
    """

    measure: str
    tau: float | None
    tau_range: tuple[float, float] | None
    tau_ap: float
    rbo: float
    same_winner: float
    winner_noise: float
    standings: tuple[Standing, ...]
    flips: tuple[Flip, ...]
    queries: int
    resamples: int
    level: float
    persistence: float
    notes: tuple[Note, ...] = ()

    @property
    def winners(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The runs that the first and the second judge put first; several where they tie."""
        first = tuple(standing.run for standing in self.standings if standing.rank == 1)
        second = tuple(standing.run for standing in self.standings if standing.versus_rank == 1)
        return first, second

    @property
    def winner_changes(self) -> bool:
        """Whether no run is first by both judges."""
        first, second = self.winners
        return set(first).isdisjoint(second)

    @property
    def rbo_reversed(self) -> float:
        """The RBO of as many runs in the reverse order, the lowest there is: with few runs it is not near 0."""
        order = range(len(self.standings))
        return float(rbo(order, order[::-1], p=self.persistence))

    def __str__(self) -> str:
        tau = "undefined" if self.tau is None else f"{self.tau:.3f}"
        numbers = f"tau {tau}, tau_AP {self.tau_ap:.3f}, RBO {self.rbo:.3f}"
        first, second = (" and ".join(runs) for runs in self.winners)
        different_winners = f"{first} comes first by the first judge, {second} by the second"
        verdict = f"both judges put {first} first" if first == second else different_winners
        return (
            f"{self.measure} over {'1 query' if self.queries == 1 else f'{self.queries} queries'}: {numbers}; {verdict}"
        )

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        low, high = self.tau_range or (None, None)
        first, second = self.winners
        return {
            "tau": self.tau,
            "tau_range": {"low": low, "high": high, "level": self.level},
            "tau_ap": self.tau_ap,
            "rbo": self.rbo,
            "rbo_reversed": self.rbo_reversed,
            "persistence": self.persistence,
            "flips": [asdict(flip) for flip in self.flips],
            "winner": {
                "judgments": list(first),
                "versus": list(second),
                "changes": self.winner_changes,
                "same": self.same_winner,
                "noise": self.winner_noise,
            },
            "runs": {
                standing.run: {key: value for key, value in asdict(standing).items() if key != "run"}
                for standing in self.standings
            },
            "queries": self.queries,
            "resamples": self.resamples,
        }
