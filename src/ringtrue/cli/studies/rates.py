"""Studies of scores corrected by a judge's rates, for `ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

import click

from ringtrue.cli.output import Grid, progress_bar
from ringtrue.cli.studies.study import Asked, Number, Shown
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.simulation.studies.goldberg import NoisyScores
    from ringtrue.simulation.studies.rate_coverage import RatesCoverage

__all__ = ["GOLDBERG", "RATES", "goldberg", "rates"]

GOLDBERG: dict[str, Number] = {
    "first": 0.49, "last": 0.31, "k": 10, "relevant": 0.9, "nonrelevant": 0.8, "relevant_labels": 250,
    "nonrelevant_labels": 250, "queries": 50,
}  # fmt: skip
RATES: dict[str, Number] = {"resamples": 1000, "worlds": 0}
KINDS = {
    "naive": "bronze scores as they are: mean ± t·s/√n",
    "wald": "corrected, ± z of the published standard error",
    "fieller": "corrected, Fieller's interval, adjusted",
}
INTERVALS = {
    "fieller": "Fieller's, adjusted (the default)",
    "wald": "Wald, as published",
    "bootstrap": "Algorithm 1, as published",
}
BELOW = ("below_0.9", "below_0.5")
WORLDS = {
    "usual": "25 to 1,000 queries of 1, 3 or 10 documents, 15 to 250 gold labels of each kind, judges from bad to good",
    "harder": "10 or 50 queries, some of them all good or all bad, so that their spread is hardly known",
}
WIDTH = 100
BAR = 30  # characters of the longest bar
MOST_ROWS = 40
EIGHTHS = " ▏▎▍▌▋▊▉█"


def goldberg(asked: Asked) -> Shown:
    """Algorithm 2 of [Goldberg17], with its histogram."""
    import numpy as np

    from ringtrue.simulation.studies.goldberg import noisy_scores

    own, k = asked.settings, asked.whole("k")
    with progress_bar(asked.replications * asked.whole("queries") * max(k, 1), what="simulating") as advance:
        found = noisy_scores(
            asked.rng, replications=asked.replications, level=asked.level, progress=advance,
            shares=np.linspace(own["first"], own["last"], max(k, 0)).tolist(), relevant=own["relevant"],
            nonrelevant=own["nonrelevant"], queries=asked.whole("queries"),
            relevant_labels=asked.whole("relevant_labels"), nonrelevant_labels=asked.whole("nonrelevant_labels"),
        )  # fmt: skip
    refused = (
        f"in {found.refused:.1%} of the experiments the rates allow a judge no better than chance: Fieller's is 0 to 1"
    )
    return Shown(
        data=found.as_dict() | {"settings": dict(own)},
        grids=partial(_kinds, found),
        flat=partial(_bins, found),
        picture=_histogram(found, k),
        notes=[refused] if found.refused else [],
    )


def _kinds(found: NoisyScores) -> Grid:
    means = {"naive": found.naive.mean(), "wald": found.defined.mean(), "fieller": found.defined.mean()}
    rows = [[KINDS[kind], f"{means[kind]:.3f}", f"{100 * share:.1f}%"] for kind, share in found.coverage.items()]
    caption = (
        f"{len(found.naive):,} experiments; the true score is {found.truth:.3g}, and intervals promise to hold it in "
        f"{found.level * 100:g}%"
    )
    return Grid(columns=["score and interval", "mean score", "holds the truth"], rows=rows, caption=caption)


def _bins(found: NoisyScores) -> Grid:
    edges, naive, corrected = found.histogram()
    rows = [[f"{low:g}", f"{high:g}", str(one), str(other)]
            for low, high, one, other in zip(edges[:-1], edges[1:], naive, corrected, strict=True)]  # fmt: skip
    return Grid(columns=["from", "to", "naive", "corrected"], rows=rows)


def _histogram(found: NoisyScores, k: int) -> str:
    """Both kinds of score side by side, a line for each bin, with an arrow at the truth."""
    edges, naive, corrected = found.histogram()
    step = -(-len(naive) // MOST_ROWS)
    starts = range(0, len(naive), step)
    bars = [[sum(counts[start : start + step]) for start in starts] for counts in (naive, corrected)]
    ends = [edges[min(start + step, len(naive))] for start in starts]
    most = max(map(max, bars))
    room = BAR + 2 + len(f"{most:,}")
    lines = [f"{f'P@{k}':<14}{'naive':<{room}}  corrected"]
    for start, end, one, other in zip(starts, ends, *bars, strict=True):
        here = edges[start] - 1e-9 <= found.truth < end - 1e-9
        gap = " " * (room - len(_bar(one, most)))
        left = (click.style(_bar(one, most), fg="red") if one else "") + gap
        right = click.style(_bar(other, most), fg="blue") if other else ""
        label = f"{edges[start]:.2f}–{end:.2f}".replace("-", "−")
        lines.append(f"{label:<11} {'▶' if here else ' '} {left}  {right}".rstrip())
    return "\n".join([*lines, f"{'':<12}▶ the true score, {found.truth:.3g}"])


def _bar(n: int, most: int) -> str:
    """A bar in eighths of a character, and its number."""
    eighths = round(8 * BAR * n / most)
    whole, rest = divmod(max(eighths, 1 if n else 0), 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "") + f" {n:,}") if n else ""


def rates(asked: Asked) -> Shown:
    """How often the intervals of corrected scores hold the truth, over many worlds."""
    from ringtrue.simulation.studies.rate_coverage import HARDER, USUAL, coverage_of_rates

    rng, resamples, few = asked.rng, asked.whole("resamples"), asked.whole("worlds")
    kinds = {"usual": USUAL, "harder": HARDER}
    if few < 0:
        raise UsageError(f"--set worlds={few}: how many worlds of each kind to look at, or 0 for all of them")
    if few:
        kinds = {
            name: [some[place] for place in sorted(rng.permutation(len(some))[:few])] for name, some in kinds.items()
        }
    total = sum(map(len, kinds.values())) * asked.replications * resamples
    with progress_bar(total, what="simulating") as advance:
        found = {
            name: coverage_of_rates(
                rng, some, replications=asked.replications, resamples=resamples, level=asked.level, progress=advance
            )
            for name, some in kinds.items()
        }
    data = {name: _summary(some) for name, some in found.items()}
    listed = [{"kind": name} | one.as_dict() for name, some in found.items() for one in some]
    return Shown(
        data={
            "replications": asked.replications,
            "resamples": resamples,
            "level": asked.level,
            **data,
            "worlds": listed,
        },
        grids=partial(_coverage, found, asked),
        flat=lambda: Grid(
            columns=list(listed[0]), rows=[["" if x is None else str(x) for x in row.values()] for row in listed]
        ),
    )


def _held(some: Sequence[RatesCoverage], interval: str) -> dict[str, float]:
    """How often an interval holds the truth, over worlds."""
    held = [getattr(one, interval) for one in some]
    below = {f"below_{limit:g}": sum(share < limit for share in held) for limit in (0.9, 0.5)}
    return {"mean": sum(held) / len(held), "min": min(held), **below}


def _summary(some: Sequence[RatesCoverage]) -> dict[str, object]:
    refused = [one.refused for one in some]
    answered = [one.answered for one in some if one.answered is not None and one.refused < 0.5]
    return {
        "worlds": len(some),
        **{interval: _held(some, interval) for interval in INTERVALS},
        "refused": {"mean": sum(refused) / len(refused), "max": max(refused)},
        "answered": {"worlds": len(answered), "min": min(answered, default=None)},
    }


def _coverage(found: dict[str, list[RatesCoverage]], asked: Asked) -> list[Grid]:
    return [_world_table(name, some, asked) for name, some in found.items()]


def _world_table(name: str, some: list[RatesCoverage], asked: Asked) -> Grid:
    rows = []
    for interval, called in INTERVALS.items():
        held = _held(some, interval)
        rows.append([called, f"{held['mean']:.3f}", f"{held['min']:.3f}", *(f"{held[x]:,}" for x in BELOW)])
    refused = [one.refused for one in some]
    worst = min(some, key=lambda one: one.fieller).world
    mean, most = sum(refused) / len(refused), max(refused)
    labels = f"{worst.relevant_labels:,} and {worst.nonrelevant_labels:,} labels"
    queries = f"{worst.queries:,} queries of {worst.k} document{'' if worst.k == 1 else 's'}, alike {worst.alike:g}"
    rates = f"rates of {worst.relevant:g} and {worst.nonrelevant:g}"
    lines = [
        f"{len(some):,} worlds, {asked.replications:,} experiments in each: {WORLDS[name]}",
        f"no answer, which counts as held: {mean:.1%} of the experiments, {most:.1%} in the worst world",
        f"Fieller's is lowest for a share of {worst.share:g}, {rates} from {labels}, {queries}",
    ]
    return Grid(columns=[f"{name} worlds", "mean", "lowest", "below .90", "below .50"], rows=rows,
                caption="\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines))  # fmt: skip
