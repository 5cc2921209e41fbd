"""What can be asked of a few gold labels: corrected scores, the next sample, a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from ringtrue.doctor.file_contents import LabelFile, RunFile
from ringtrue.doctor.roles import FileRoles
from ringtrue.doctor.shell_commands import quote_path
from ringtrue.doctor.suggestions.collector import SuggestionCollector, find_refusal
from ringtrue.doctor.suggestions.runs import MORE_RUNS, missing_for_evaluation, relevance_levels, run_arguments
from ringtrue.doctor.summaries.runs import TOP_DEPTH
from ringtrue.tables import Judgments

MAX_RUNS_COMPARED = 8  # runs whose pairs are tried
SAMPLE_BUDGET, SAMPLE_QUERIES = 200, 20  # for a sample
EXTENDABLE_DESIGNS = ("pool_stratified", "pool_random")  # designs of samples that more documents can be added to
HALF_WIDTH = 0.03
DEFAULT_MEASURES = ("P@10", "DCG@10")  # what `evaluate --gold` measures if nothing is said
WHOLE_QUERY_MEASURES = ("P@10", "nDCG@10")  # what gold labels of whole queries can correct as well
DRAW_SAMPLE_ADVICE = "draw a sample that serves with `ringtrue sample`"
CHEAP_JUDGE = ("a cheap judge's labels of all documents, to be corrected", "nothing is needed where trusted labels do")
PLAN_ADVICE = "`ringtrue plan --help` shows how to plan by numbers alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldInput:
    """Gold labels, or a matrix: what the library is given, and what a command is told."""

    labels_or_matrix: object
    arguments: tuple[str, ...]
    measures: tuple[str, ...] = DEFAULT_MEASURES
    bronze_rel: int | None = None
    why: str = ""


def choose_gold(roles: FileRoles) -> GoldInput | None:
    """The gold that can correct the bronze judge: a sample with probabilities, or a matrix."""
    bronze, sample = roles.bronze, roles.sample
    if bronze is None or (sample is None and roles.matrix is None):
        return None
    if sample is None:
        assert roles.matrix is not None
        why = "by the judge's rates, which hold if it errs here as it did there"
        return GoldInput(
            labels_or_matrix=roles.matrix.matrix, arguments=("--gold", quote_path(roles.matrix.path)), why=why
        )
    rel, bronze_rel = relevance_levels(sample, bronze)
    arguments: tuple[str, ...] = ("--gold", quote_path(sample.path))
    is_whole_queries = sample.counts["design"] == "whole_queries"
    if (rel, bronze_rel) == (1, 1):
        arguments += ("-m", ",".join(WHOLE_QUERY_MEASURES)) if is_whole_queries else ()
        return GoldInput(
            labels_or_matrix=sample.judgments,
            arguments=arguments,
            measures=WHOLE_QUERY_MEASURES if is_whole_queries else DEFAULT_MEASURES,
        )
    arguments += (
        "--rel",
        str(rel),
        "--bronze-rel",
        str(bronze_rel),
        *(("-m", ",".join(WHOLE_QUERY_MEASURES)) if is_whole_queries else ()),
    )
    scales = f"gold goes up to {sample.highest_label}, bronze to {bronze.highest_label}"
    measures = (f"P(rel={rel})@{TOP_DEPTH}", WHOLE_QUERY_MEASURES[1] if is_whole_queries else DEFAULT_MEASURES[1])
    return GoldInput(
        labels_or_matrix=sample.judgments,
        arguments=arguments,
        measures=measures,
        bronze_rel=bronze_rel,
        why=f"{scales}: the upper half of each scale counts as relevant",
    )


def suggest_for_gold(collector: SuggestionCollector) -> None:
    """Corrected scores and differences, the next sample, a plan."""
    _suggest_correction(collector)
    _suggest_sample(collector)
    _suggest_plan(collector)


def _suggest_correction(collector: SuggestionCollector) -> None:
    from ringtrue.gold.correction import compare_corrected, correct

    roles, gold, bronze = collector.roles, choose_gold(collector.roles), collector.roles.bronze
    runs = () if bronze is None else roles.runs_judged_by(bronze)
    if gold is None or bronze is None or not runs:
        for question in ("correct", "compare-corrected"):
            collector.add_missing(question, *_missing_for_correction(roles, runs))
        return
    tops, arguments, labels = (
        [run.top for run in runs],
        (*run_arguments(roles, bronze), *gold.arguments),
        _keep_last_labels(bronze),
    )
    compute_correction = partial(
        correct, tops, labels, gold.labels_or_matrix, gold.measures, bronze_rel=gold.bronze_rel
    )
    if (why_not := find_refusal(compute_correction)) is None:
        collector.suggest("correct", *arguments, why=gold.why or f"what {bronze.path} says, corrected by gold")
    else:
        collector.add_refusal("correct", why_not, DRAW_SAMPLE_ADVICE)
    if len(runs) < 2:
        collector.add_missing("compare-corrected", *MORE_RUNS)
        return
    for measures, measure_arguments in (
        (gold.measures, ()),
        (DEFAULT_MEASURES[:1], ("-m", DEFAULT_MEASURES[0])),
    ):  # rates alone compare only P@k
        compute_comparison = partial(
            compare_corrected,
            tops[:MAX_RUNS_COMPARED],
            labels,
            gold.labels_or_matrix,
            measures,
            bronze_rel=gold.bronze_rel,
        )
        if (why_not := find_refusal(compute_comparison)) is None:
            collector.suggest("compare-corrected", *arguments, *measure_arguments)
            return
    collector.add_refusal("compare-corrected", why_not or "", DRAW_SAMPLE_ADVICE)


def _missing_for_correction(roles: FileRoles, runs: Sequence[RunFile]) -> tuple[str, str]:
    """What is missing for a correction, and what to do about it."""
    if roles.main_judgments is None:
        return missing_for_evaluation(roles)
    unjudged = next((file for file in roles.unjudged if file.kind == "sample"), None)
    if unjudged is not None:
        unlabelled = unjudged.counts["documents"] - unjudged.counts.get("labelled", 0)
        return (
            f"gold labels: {unlabelled:,} documents of {unjudged.path} wait for theirs",
            "let gold fill in the column label",
        )
    if roles.bronze is None:
        return CHEAP_JUDGE
    if not runs:
        return f"runs of the queries in {roles.bronze.path}", "write the ids alike in both files"
    if roles.truth is not None:
        gold_arguments = f"--gold {quote_path(roles.truth.path)} --design whole_queries"
        needs = f"gold labels that say how they were drawn, and {roles.truth.path} has no columns prob and design"
        return (
            needs,
            f"draw some with `ringtrue sample`; or, if gold judged whole queries drawn by lot, add `{gold_arguments}`",
        )
    return "gold labels of a few documents", "`ringtrue sample` says which, and gold fills in a column label"


def _suggest_sample(collector: SuggestionCollector) -> None:
    from ringtrue.gold.sampling import sample

    roles, labels = collector.roles, collector.roles.bronze
    if labels is None or not roles.runs_judged_by(labels):
        collector.add_missing(
            "sample", *(missing_for_evaluation(roles) if roles.main_judgments is None else CHEAP_JUDGE)
        )
        return
    if roles.sample is not None and _suggest_continued_sample(collector, labels, roles.sample):
        return
    tops = [run.top for run in roles.runs_judged_by(labels)]
    pool_size = pl.concat([top.frame.select("query", "doc") for top in tops]).n_unique()
    budget = min(SAMPLE_BUDGET, pool_size)
    draw = partial(
        sample, tops, _keep_last_labels(labels), DEFAULT_MEASURES[0], budget=budget, rng=np.random.default_rng(0)
    )
    if (why_not := find_refusal(draw)) is not None:
        collector.add_refusal("sample", why_not, "give other runs or judgments")
        return
    collector.suggest(
        "sample",
        *run_arguments(roles, labels),
        "--budget",
        str(budget),
        "-o",
        collector.free_names.claim("gold-sample.csv"),
        why=f"{budget} documents to begin with; any other number will do",
    )


def _suggest_continued_sample(collector: SuggestionCollector, labels: LabelFile, earlier: LabelFile) -> bool:
    """Whether the sample that there is can be continued, by documents or by whole queries; then that is the answer."""
    from ringtrue.gold.sampling import sample, sample_queries

    roles, rng = collector.roles, np.random.default_rng(0)
    runs_and_labels = [run.top for run in roles.runs_judged_by(labels)], _keep_last_labels(labels)
    draw: Callable[[], object]
    if earlier.counts["design"] == "whole_queries":
        size_arguments = ["--queries", str(SAMPLE_QUERIES), "--for", WHOLE_QUERY_MEASURES[1]]
        why = f"{SAMPLE_QUERIES} queries more; any other number will do"
        draw = partial(
            sample_queries,
            *runs_and_labels,
            WHOLE_QUERY_MEASURES[1],
            queries=SAMPLE_QUERIES,
            already=earlier.judgments,
            rng=rng,
        )
    elif earlier.counts["design"] in EXTENDABLE_DESIGNS:
        size_arguments, why = (
            ["--budget", str(SAMPLE_BUDGET)],
            f"{SAMPLE_BUDGET} documents more; any other number will do",
        )
        draw = partial(
            sample, *runs_and_labels, DEFAULT_MEASURES[0], budget=SAMPLE_BUDGET, already=earlier.judgments, rng=rng
        )
    else:
        return False
    if find_refusal(draw) is not None:
        return False
    name = collector.free_names.claim("more-gold.csv")
    collector.suggest(
        "sample",
        *run_arguments(roles, labels),
        "--already",
        quote_path(earlier.path),
        *size_arguments,
        "-o",
        name,
        why=why,
    )
    return True


def _suggest_plan(collector: SuggestionCollector) -> None:
    from ringtrue.gold.planning import plan

    roles, bronze = collector.roles, collector.roles.bronze
    gold = roles.sample or roles.truth
    if bronze is None or gold is None or not roles.runs_judged_by(bronze) or bronze.repeat_count:
        missing = ("a cheap judge's labels, and gold labels of some of them", PLAN_ADVICE)
        collector.add_missing("plan", *(missing_for_evaluation(roles) if roles.main_judgments is None else missing))
        return
    run = roles.runs_judged_by(bronze)[0]
    rel, bronze_rel = relevance_levels(gold, bronze)
    arguments = [quote_path(run.path), "--judgments", quote_path(bronze.path), "--gold", quote_path(gold.path)]
    arguments += ["--rel", str(rel), "--bronze-rel", str(bronze_rel)] if (rel, bronze_rel) != (1, 1) else []
    compute_plan = partial(
        plan,
        [run.top],
        bronze.judgments,
        gold=gold.judgments,
        measure=f"P(rel={rel})@{TOP_DEPTH}",
        bronze_rel=bronze_rel,
        half_width=HALF_WIDTH,
    )
    if (why_not := find_refusal(compute_plan)) is None:
        collector.suggest(
            "plan", *arguments, "--half-width", str(HALF_WIDTH), why=f"for P@{TOP_DEPTH} within ±{HALF_WIDTH}"
        )
    else:
        collector.add_refusal("plan", why_not, PLAN_ADVICE)


def _keep_last_labels(labels: LabelFile) -> Judgments:
    return labels.judgments.without_repeats("last") if labels.repeat_count else labels.judgments
