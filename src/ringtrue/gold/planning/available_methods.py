"""Which methods can answer, with what is known put into their formulas."""

from __future__ import annotations

import numpy as np

from ringtrue.gold.planning.assumptions import Assumptions
from ringtrue.gold.planning.methods import Every, Inverted, Method, Random, RandomGold, SharedJudge, Spread, Stratified

__all__ = ["methods_for"]


def methods_for(known: Assumptions) -> tuple[list[Method], RandomGold]:
    """The ways that can answer, in the order of the table; those that rest on the judge's rates only for J > 0.

    Beside them, gold by itself on documents drawn at random, to measure the others by.
    """
    whole, these = known.documents, known.population == "these"
    spread = 0.0 if these else known.gold_sd**2
    square = known.weight**2
    one, other = known.gold_if_relevant, known.gold_if_not
    doubts = one * (1 - one) * square, other * (1 - other) * square
    unit = known.score * doubts[0] + (1 - known.score) * doubts[1]
    alone = square * (known.prevalence - known.shift**2 if known.paired else known.prevalence * (1 - known.prevalence))
    by_itself = RandomGold(documents=whole, spread=spread, unit=alone, normal=these)
    ways: list[Method] = [
        Every(documents=whole, spread=spread, normal=these),
        by_itself if these else Spread(documents=whole, spread=spread, unit=alone),
        Random(documents=whole, spread=spread, unit=unit, normal=these),
        Stratified(
            documents=whole, spread=spread, shares=(known.score, 1 - known.score), units=doubts, normal=these
        ),
    ]  # fmt: skip
    if known.youden <= 0:
        return ways, by_itself
    bronze = known.noise if these else known.bronze_sd**2
    if known.paired:
        return [*ways, SharedJudge(spread=bronze, youden=known.youden, normal=these)], by_itself
    right, wrong = known.relevant, known.nonrelevant
    rates = known.prevalence * np.sqrt(right * (1 - right)), (1 - known.prevalence) * np.sqrt(wrong * (1 - wrong))
    inverted = Inverted(spread=bronze, doubts=(float(rates[0]), float(rates[1])), youden=known.youden)
    return [*ways, inverted], by_itself
