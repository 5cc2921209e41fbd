"""What can be asked of a few gold labels: corrected scores, the next sample, a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from ringtrue.doctor.file_contents import LabelFile, RunFile
from ringtrue.doctor.roles import Cast
from ringtrue.doctor.shell_commands import named
from ringtrue.doctor.suggestions.collector import Replies, refused
from ringtrue.doctor.suggestions.runs import MORE_RUNS, blocked, levels_of, runs_and
from ringtrue.doctor.summaries.runs import TOP
from ringtrue.tables import Judgments

__all__ = ["Gold", "ask_about_gold", "gold_of"]

MOST_COMPARED = 8  # runs whose pairs are tried
BUDGET, QUERIES = 200, 20  # for a sample
CONTINUED = ("pool_stratified", "pool_random")  # designs of samples that more documents can be added to
HALF_WIDTH = 0.03
USUAL = ("P@10", "DCG@10")  # what `evaluate --gold` measures if nothing is said
WHOLE = ("P@10", "nDCG@10")  # what gold labels of whole queries can correct as well
SERVES = "draw a sample that serves with `ringtrue sample`"
CHEAP_JUDGE = ("a cheap judge's labels of all documents, to be corrected", "nothing is needed where trusted labels do")
NUMBERS = "`ringtrue plan --help` shows how to plan by numbers alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """Gold labels, or a matrix: what the library is given, and what a command is told."""

    given: object
    words: tuple[str, ...]
    measures: tuple[str, ...] = USUAL
    bronze_rel: int | None = None
    why: str = ""


def gold_of(cast: Cast) -> Gold | None:
    """The gold that can correct the bronze judge: a sample with probabilities, or a matrix."""
    bronze, sample = cast.bronze, cast.sample
    if bronze is None or (sample is None and cast.matrix is None):
        return None
    if sample is None:
        assert cast.matrix is not None
        why = "by the judge's rates, which hold if it errs here as it did there"
        return Gold(given=cast.matrix.matrix, words=("--gold", named(cast.matrix.path)), why=why)
    rel, bronze_rel = levels_of(sample, bronze)
    words: tuple[str, ...] = ("--gold", named(sample.path))
    whole = sample.counts["design"] == "whole_queries"
    if (rel, bronze_rel) == (1, 1):
        words += ("-m", ",".join(WHOLE)) if whole else ()
        return Gold(given=sample.judgments, words=words, measures=WHOLE if whole else USUAL)
    words += ("--rel", str(rel), "--bronze-rel", str(bronze_rel), *(("-m", ",".join(WHOLE)) if whole else ()))
    scales = f"gold goes up to {sample.highest}, bronze to {bronze.highest}"
    measures = (f"P(rel={rel})@{TOP}", WHOLE[1] if whole else USUAL[1])
    return Gold(given=sample.judgments, words=words, measures=measures, bronze_rel=bronze_rel,
                why=f"{scales}: the upper half of each scale counts as relevant")  # fmt: skip


def ask_about_gold(replies: Replies) -> None:
    """Corrected scores and differences, the next sample, a plan."""
    _correct(replies)
    _sample(replies)
    _plan(replies)


def _correct(replies: Replies) -> None:
    from ringtrue.gold.correction import compare_corrected, correct

    cast, gold, bronze = replies.cast, gold_of(replies.cast), replies.cast.bronze
    runs = () if bronze is None else cast.judged_by(bronze)
    if gold is None or bronze is None or not runs:
        for question in ("correct", "compare-corrected"):
            replies.no(question, *_lacking(cast, runs))
        return
    tops, words, labels = [run.top for run in runs], (*runs_and(cast, bronze), *gold.words), _settled(bronze)
    asked = partial(correct, tops, labels, gold.given, gold.measures, bronze_rel=gold.bronze_rel)
    if (why_not := refused(asked)) is None:
        replies.yes("correct", *words, why=gold.why or f"what {bronze.path} says, corrected by gold")
    else:
        replies.refuse("correct", why_not, SERVES)
    if len(runs) < 2:
        replies.no("compare-corrected", *MORE_RUNS)
        return
    for measures, more in ((gold.measures, ()), (USUAL[:1], ("-m", USUAL[0]))):  # rates alone compare only P@k
        compared = partial(compare_corrected, tops[:MOST_COMPARED], labels, gold.given, measures,
                           bronze_rel=gold.bronze_rel)  # fmt: skip
        if (why_not := refused(compared)) is None:
            replies.yes("compare-corrected", *words, *more)
            return
    replies.refuse("compare-corrected", why_not or "", SERVES)


def _lacking(cast: Cast, runs: Sequence[RunFile]) -> tuple[str, str]:
    """What is missing for a correction, and what to do about it."""
    if cast.main is None:
        return blocked(cast)
    waiting = next((one for one in cast.waiting if one.kind == "sample"), None)
    if waiting is not None:
        left = waiting.counts["documents"] - waiting.counts.get("labelled", 0)
        return f"gold labels: {left:,} documents of {waiting.path} wait for theirs", "let gold fill in the column label"
    if cast.bronze is None:
        return CHEAP_JUDGE
    if not runs:
        return f"runs of the queries in {cast.bronze.path}", "write the ids alike in both files"
    if cast.truth is not None:
        whole = f"--gold {named(cast.truth.path)} --design whole_queries"
        needs = f"gold labels that say how they were drawn, and {cast.truth.path} has no columns prob and design"
        return needs, f"draw some with `ringtrue sample`; or, if gold judged whole queries drawn by lot, add `{whole}`"
    return "gold labels of a few documents", "`ringtrue sample` says which, and gold fills in a column label"


def _sample(replies: Replies) -> None:
    from ringtrue.gold.sampling import sample

    cast, labels = replies.cast, replies.cast.bronze
    if labels is None or not cast.judged_by(labels):
        replies.no("sample", *(blocked(cast) if cast.main is None else CHEAP_JUDGE))
        return
    if cast.sample is not None and _continued(replies, labels, cast.sample):
        return
    tops = [run.top for run in cast.judged_by(labels)]
    size = pl.concat([top.frame.select("query", "doc") for top in tops]).n_unique()
    budget = min(BUDGET, size)
    draw = partial(sample, tops, _settled(labels), USUAL[0], budget=budget, rng=np.random.default_rng(0))
    if (why_not := refused(draw)) is not None:
        replies.refuse("sample", why_not, "give other runs or judgments")
        return
    replies.yes("sample", *runs_and(cast, labels), "--budget", str(budget), "-o", replies.names.free("gold-sample.csv"),
                why=f"{budget} documents to begin with; any other number will do")  # fmt: skip


def _continued(replies: Replies, labels: LabelFile, earlier: LabelFile) -> bool:
    """Whether the sample that there is can be continued, by documents or by whole queries; then that is the answer."""
    from ringtrue.gold.sampling import sample, sample_queries

    cast, rng = replies.cast, np.random.default_rng(0)
    given = [run.top for run in cast.judged_by(labels)], _settled(labels)
    draw: Callable[[], object]
    if earlier.counts["design"] == "whole_queries":
        more = ["--queries", str(QUERIES), "--for", WHOLE[1]]
        why = f"{QUERIES} queries more; any other number will do"
        draw = partial(sample_queries, *given, WHOLE[1], queries=QUERIES, already=earlier.judgments, rng=rng)
    elif earlier.counts["design"] in CONTINUED:
        more, why = ["--budget", str(BUDGET)], f"{BUDGET} documents more; any other number will do"
        draw = partial(sample, *given, USUAL[0], budget=BUDGET, already=earlier.judgments, rng=rng)
    else:
        return False
    if refused(draw) is not None:
        return False
    name = replies.names.free("more-gold.csv")
    replies.yes("sample", *runs_and(cast, labels), "--already", named(earlier.path), *more, "-o", name, why=why)
    return True


def _plan(replies: Replies) -> None:
    from ringtrue.gold.planning import plan

    cast, bronze = replies.cast, replies.cast.bronze
    gold = cast.sample or cast.truth
    if bronze is None or gold is None or not cast.judged_by(bronze) or bronze.again:
        both = ("a cheap judge's labels, and gold labels of some of them", NUMBERS)
        replies.no("plan", *(blocked(cast) if cast.main is None else both))
        return
    run = cast.judged_by(bronze)[0]
    rel, bronze_rel = levels_of(gold, bronze)
    words = [named(run.path), "--judgments", named(bronze.path), "--gold", named(gold.path)]
    words += ["--rel", str(rel), "--bronze-rel", str(bronze_rel)] if (rel, bronze_rel) != (1, 1) else []
    wanted = partial(plan, [run.top], bronze.judgments, gold=gold.judgments, measure=f"P(rel={rel})@{TOP}",
                     bronze_rel=bronze_rel, half_width=HALF_WIDTH)  # fmt: skip
    if (why_not := refused(wanted)) is None:
        replies.yes("plan", *words, "--half-width", str(HALF_WIDTH), why=f"for P@{TOP} within ±{HALF_WIDTH}")
    else:
        replies.refuse("plan", why_not, NUMBERS)


def _settled(labels: LabelFile) -> Judgments:
    return labels.judgments.without_repeats("last") if labels.again else labels.judgments
