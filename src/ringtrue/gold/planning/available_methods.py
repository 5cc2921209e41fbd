"""Which methods can answer, with what is known put into their formulas."""

from __future__ import annotations

import numpy as np

from ringtrue.gold.planning.assumptions import Assumptions
from ringtrue.gold.planning.methods import (
    AllGold,
    Method,
    RandomDifference,
    RandomGold,
    RateInversion,
    SharedJudge,
    SpreadGold,
    StratifiedDifference,
)


def available_methods(assumptions: Assumptions) -> tuple[list[Method], RandomGold]:
    """The ways that can answer, in the order of the table; those that rest on the judge's rates only for J > 0.

    Beside them, gold by itself on documents drawn at random, to measure the others by.
    """
    documents, these_queries = assumptions.documents, assumptions.population == "these"
    between_variance = 0.0 if these_queries else assumptions.gold_sd**2
    weight_squared = assumptions.weight**2
    p, q = assumptions.gold_if_relevant, assumptions.gold_if_not
    label_variances = p * (1 - p) * weight_squared, q * (1 - q) * weight_squared
    mean_label_variance = assumptions.score * label_variances[0] + (1 - assumptions.score) * label_variances[1]
    gold_variance = weight_squared * (
        assumptions.prevalence - assumptions.shift**2
        if assumptions.paired
        else assumptions.prevalence * (1 - assumptions.prevalence)
    )
    random_gold = RandomGold(
        documents=documents, between_variance=between_variance, label_variance=gold_variance, normal=these_queries
    )
    methods: list[Method] = [
        AllGold(documents=documents, between_variance=between_variance, normal=these_queries),
        random_gold
        if these_queries
        else SpreadGold(documents=documents, between_variance=between_variance, label_variance=gold_variance),
        RandomDifference(
            documents=documents,
            between_variance=between_variance,
            label_variance=mean_label_variance,
            normal=these_queries,
        ),
        StratifiedDifference(
            documents=documents,
            between_variance=between_variance,
            shares=(assumptions.score, 1 - assumptions.score),
            label_variances=label_variances,
            normal=these_queries,
        ),
    ]
    if assumptions.youden <= 0:
        return methods, random_gold
    bronze_variance = assumptions.noise if these_queries else assumptions.bronze_sd**2
    if assumptions.paired:
        return [
            *methods,
            SharedJudge(between_variance=bronze_variance, youden=assumptions.youden, normal=these_queries),
        ], random_gold
    sensitivity, specificity = assumptions.relevant, assumptions.nonrelevant
    rate_sds = (
        assumptions.prevalence * np.sqrt(sensitivity * (1 - sensitivity)),
        (1 - assumptions.prevalence) * np.sqrt(specificity * (1 - specificity)),
    )
    rate_inversion = RateInversion(
        between_variance=bronze_variance, rate_sds=(float(rate_sds[0]), float(rate_sds[1])), youden=assumptions.youden
    )
    return [*methods, rate_inversion], random_gold
