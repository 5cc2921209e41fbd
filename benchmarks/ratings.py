"""Ratings from votes: Elo, Bradley–Terry, intervals by resampling, and the next pairs to ask.

    python -m benchmarks.ratings elo-1000 ringtrue

Each turn is a process of its own that prints the CPU seconds, and how many MB more it held than before; making the data
and importing do not count. ringtrue starts from a table of names that was checked when it was read, evalica from lists
of names and of its own outcomes, choix from pairs of numbers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.process_cost import Cost, cost_of_work

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K, START, SCALE = 16.0, 100.0, 200.0
RIDGE = 0.25
TURNS = 5
Work: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A task in words, its size for each query, and who does it; `once` are those who would take long."""

    words: str
    docs: int
    matches: int
    contestants: tuple[str, ...]
    queries: int = 1
    once: tuple[str, ...] = ()


ELO = ("ringtrue", "ringtrue, checking too", "evalica", "evalica, given its index")
CASES = {
    **{
        f"elo-{docs}": Case(
            words=f"Elo, one pool of {docs:,} documents, 1,000,000 votes", docs=docs, matches=1_000_000, contestants=ELO
        )
        for docs in (100, 1_000, 10_000)
    },
    "elo-queries": Case(
        words="Elo, 10,000 queries of 20 documents and 100 votes", docs=20, matches=100, queries=10_000,
        contestants=("ringtrue", "evalica"),
    ),
    "bradley-terry": Case(
        words="Bradley–Terry, 10,000 documents, 100,000 votes", docs=10_000, matches=100_000,
        contestants=("ringtrue", "ringtrue with intervals", "evalica", "choix mm", "choix opt"),
        once=("evalica", "choix mm", "choix opt"),
    ),
    "bootstrap": Case(
        words="Bradley–Terry with 1,000 bootstraps, 200 documents, 4,000 votes", docs=200, matches=4_000,
        contestants=("ringtrue",),
    ),
    "active": Case(
        words="100 pairs chosen among 1,000 documents with 5,000 votes", docs=1_000, matches=5_000,
        contestants=("ringtrue",),
    ),
}  # fmt: skip


def taken(name: str, contestant: str) -> Cost:
    """CPU seconds, the least of several turns, and the most memory beside what was held before."""
    words = [sys.executable, "-m", "benchmarks.ratings", name, contestant]
    best: Cost | None = None
    for _ in range(1 if contestant in CASES[name].once else TURNS):
        printed = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
        seconds, megabytes = map(float, printed.split())
        best = Cost(seconds=seconds, megabytes=megabytes).and_again(best)
    assert best is not None
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """Who met whom in which query, and who won."""

    query: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    winner: list[str]


def votes(case: Case) -> Votes:
    """Votes between random documents. In each pool one circle of votes joins all, so that every peer has an answer."""
    import numpy as np

    rng = np.random.default_rng(0)
    shape = case.queries, case.matches
    left = rng.integers(0, case.docs, shape)
    right = (left + rng.integers(1, case.docs, shape)) % case.docs
    better = rng.normal(0, 0.5, (case.queries, case.docs))
    apart = np.take_along_axis(better, left, 1) - np.take_along_axis(better, right, 1)
    won = np.where(rng.random(shape) < 1 / (1 + np.exp(-apart)), "left", "right")
    if case.matches >= case.docs:
        circle = np.stack([rng.permutation(case.docs) for _ in range(case.queries)])
        left[:, : case.docs], right[:, : case.docs] = circle, np.roll(circle, -1, axis=1)
        won[:, : case.docs] = "left"
    return Votes(
        query=np.repeat(np.arange(case.queries), case.matches), left=left.ravel(), right=right.ravel(),
        winner=won.ravel().tolist(),
    )  # fmt: skip


def _names(numbers: NDArray[np.int64]) -> list[str]:
    """The same text for the same document: lists of names are cheaper to look up so."""
    names = [f"doc-{number:05d}" for number in range(int(numbers.max()) + 1)]
    return [names[number] for number in numbers.tolist()]


def ringtrue(name: str, contestant: str, given: Votes) -> Work:
    """What ringtrue does with a task, from a table that was checked or is."""
    import numpy as np
    import polars as pl

    import ringtrue as rt

    case = CASES[name]
    frame = pl.DataFrame({
        "query": pl.Series(given.query).cast(pl.String), "left": _names(given.left), "right": _names(given.right),
        "winner": given.winner,
    })  # fmt: skip
    table = frame if contestant.endswith("checking too") else rt.Preferences.of(frame)
    rt.rate({"left": ["a"], "right": ["b"], "winner": ["a"]})  # whatever is loaded when it is first used
    if name.startswith("elo"):
        return lambda: rt.rate(table, method="elo", each="vote", passes=1, k=K, start=START, scale=SCALE)
    if name == "bradley-terry":
        interval: Any = "laplace" if contestant.endswith("intervals") else "none"
        return lambda: rt.rate(table, ridge=RIDGE, interval=interval)
    if name == "bootstrap":
        return lambda: rt.rate(table, ridge=RIDGE, interval="bootstrap", resamples=1_000)
    run = {"0": {f"doc-{number:05d}": -float(number) for number in range(case.docs)}}
    candidates = rt.Run.of(run)
    return lambda: rt.choose_pairs(candidates, preferences=table, budget=100, rng=np.random.default_rng(0))


def evalica(name: str, contestant: str, given: Votes) -> Work:
    """What evalica does, query by query: each is a pool of its own."""
    import evalica as peer
    import numpy as np
    import pandas as pd

    case = CASES[name]
    outcome = {"left": peer.Winner.X, "right": peer.Winner.Y}
    ends = np.arange(case.matches, case.matches * case.queries + 1, case.matches).tolist()
    pools = [
        (_names(given.left[end - case.matches : end]), _names(given.right[end - case.matches : end]),
         [outcome[word] for word in given.winner[end - case.matches : end]])
        for end in ends
    ]  # fmt: skip
    index = pd.Index(_names(np.arange(case.docs))) if contestant.endswith("index") else None
    peer.elo(["a"], ["b"], [peer.Winner.X])
    if name == "bradley-terry":
        return lambda: [peer.bradley_terry(*pool) for pool in pools]
    return lambda: [peer.elo(*pool, index=index, initial=START, scale=SCALE, k=K) for pool in pools]


def choix(name: str, contestant: str, given: Votes) -> Work:
    """The two of choix that are done soonest at this size: mm, and opt, whose prior is ours; ilsr takes far longer."""
    import choix as peer
    import numpy as np

    won = np.array(given.winner) == "left"
    winners, losers = np.where(won, given.left, given.right), np.where(won, given.right, given.left)
    pairs, docs = list(zip(winners.tolist(), losers.tolist(), strict=True)), CASES[name].docs
    if contestant.endswith("mm"):
        return lambda: peer.mm_pairwise(docs, pairs, alpha=0.01)
    return lambda: peer.opt_pairwise(docs, pairs, alpha=RIDGE / 2)


MAKERS: dict[str, Callable[[str, str, Votes], Work]] = {"ringtrue": ringtrue, "evalica": evalica, "choix": choix}


def agreement() -> str:
    """How far ratings of ringtrue and its peers are apart, where both answer the same question."""
    lines = []
    for name, peer in (("elo-1000", "evalica"), ("bootstrap", "choix opt")):
        ours, theirs = (
            json.loads(subprocess.run(
                [sys.executable, "-m", "benchmarks.ratings", name, contestant, "--show"], check=True,
                stdout=subprocess.PIPE,
            ).stdout)
            for contestant in ("ringtrue", peer)
        )  # fmt: skip
        apart = max(abs(one - other) for one, other in zip(ours, theirs, strict=True))
        what = "Elo" if peer == "evalica" else "Bradley–Terry"
        lines.append(f"largest difference of a rating, {what}, {peer}: {apart:.1e}")
    return "\n".join(lines)


def main() -> None:
    """One turn of one contestant; with --show the ratings of the documents."""
    name, contestant, *rest = sys.argv[1:]
    work = MAKERS[contestant.split()[0].rstrip(",")](name, contestant, votes(CASES[name]))
    if "--show" in rest:
        json.dump(_ratings(work()), sys.stdout)
        return
    cost = cost_of_work(work)
    print(cost.seconds, cost.megabytes)


def _ratings(found: Any) -> list[float]:
    """By number of the document, whichever package found them; those of choix are of any level."""
    if hasattr(found, "frame"):
        return [float(one) for one in found.frame.sort("doc")["rating"]]
    if isinstance(found, list):
        return [float(one) for one in found[0].scores.sort_index()]
    return [float(one) for one in found - found.mean()]


if __name__ == "__main__":
    main()
