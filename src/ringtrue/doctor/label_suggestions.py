"""What can be asked of labels: corrected scores, the next sample and a plan; and about those who gave them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from ringtrue.doctor.results import Obstacle
from ringtrue.doctor.roles import (
    DOC_KEYS,
    FileRoles,
    JudgedFile,
    LabelFile,
    RunFile,
    has_labels_of_voted_docs,
    share_rows,
    shares_documents,
)
from ringtrue.doctor.suggestions import (
    LABEL_LINES,
    MORE_RUNS,
    SECOND_JUDGE,
    Arguments,
    SuggestionCollector,
    find_refusal,
    judged_runs,
    judgment_arguments,
    named_files,
    obstacle_to_evaluation,
    relevance_levels,
    repeats_argument,
)
from ringtrue.doctor.summaries import TOP_DEPTH
from ringtrue.files.sampling_frames import find_frame, read_sampling_frame
from ringtrue.judges.votes import Repeats
from ringtrue.messages import Call, Note
from ringtrue.tables import Judgments

MAX_RUNS_COMPARED = 8  # runs whose pairs are tried
SAMPLE_BUDGET, SAMPLE_QUERIES = 200, 20  # for a sample
EXTENDABLE_DESIGNS = ("pool_stratified", "pool_random")  # designs of samples that more documents can be added to
HALF_WIDTH = 0.03
DEFAULT_MEASURES = ("P@10", "DCG@10")  # what `evaluate --gold` measures if nothing is said
WHOLE_QUERY_MEASURES = ("P@10", "nDCG@10")  # what gold labels of whole queries can correct as well
DRAW_SAMPLE = Call("sample", purpose="draws a sample that serves")
CHEAP_JUDGE = Obstacle(
    reason=Note("needs-cheap-judge", "a cheap judge's labels of all documents, to be corrected"),
    advice="nothing is needed where trusted labels do",
)
PLAN_BY_NUMBERS = Call("plan", arguments={"half_width": HALF_WIDTH}, purpose="plans by numbers alone")
AT_LEAST = "1/3"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldInput:
    """Gold labels, or a matrix: what the library is given, and by which arguments a command is."""

    labels_or_matrix: object
    arguments: Arguments
    measures: tuple[str, ...] = DEFAULT_MEASURES
    bronze_rel: int | None = None
    why: str = ""


def choose_gold(roles: FileRoles) -> GoldInput | None:
    """The gold that can correct the bronze judge: a sample with probabilities, or a matrix."""
    bronze, sample, matrix = roles.bronze, roles.sample, roles.matrix
    if bronze is None:
        return None
    if sample is None:
        why = "by the judge's rates, which hold if it errs here as it did there"
        arguments = named_files(gold=matrix)
        return None if matrix is None else GoldInput(labels_or_matrix=matrix.matrix, arguments=arguments, why=why)
    rel, bronze_rel = relevance_levels(sample, bronze)
    is_whole_queries = sample.counts["design"] == "whole_queries"
    measures = WHOLE_QUERY_MEASURES if is_whole_queries else DEFAULT_MEASURES
    arguments = named_files(gold=sample)
    chosen_measures: Arguments = {"measures": ",".join(WHOLE_QUERY_MEASURES)} if is_whole_queries else {}
    if (rel, bronze_rel) == (1, 1):
        arguments |= chosen_measures
        return GoldInput(labels_or_matrix=sample.judgments, arguments=arguments, measures=measures)
    scales = f"gold goes up to {sample.highest_label}, bronze to {bronze.highest_label}"
    return GoldInput(
        labels_or_matrix=sample.judgments,
        arguments={**arguments, "rel": rel, "bronze_rel": bronze_rel, **chosen_measures},
        measures=(f"P(rel={rel})@{TOP_DEPTH}", measures[1]),
        bronze_rel=bronze_rel,
        why=f"{scales}: the upper half of each scale counts as relevant",
    )


def suggest_for_gold(collector: SuggestionCollector) -> None:
    """Corrected scores and differences, the next sample, a plan."""
    _suggest_correction(collector)
    _suggest_sample(collector)
    _suggest_plan(collector)


def suggest_for_judges(collector: SuggestionCollector) -> None:
    """Agree, judges, aggregate, disagreement, rate."""
    roles = collector.roles
    if roles.crowd is not None:
        arguments = _gold_arguments(roles, roles.crowd) | _trap_arguments(roles, roles.crowd)
        _suggest_for_several(collector, roles.crowd, arguments, "one-label.qrels")
        _suggest_disagreement(collector, roles.crowd)
    elif roles.votes is not None and roles.votes.shared_count:
        _suggest_for_several(collector, roles.votes, named_files(traps=roles.vote_traps), "one-vote.csv")
        needs = Note("needs-labels-of-documents", "labels of single documents, and these are preferences")
        collector.add_obstacle("disagreement", Obstacle(reason=needs, advice=LABEL_LINES))
    else:
        _suggest_for_two_judges(collector)
    _suggest_rating(collector)


def _suggest_correction(collector: SuggestionCollector) -> None:
    from ringtrue.gold.correction import compare_corrected, correct

    roles, gold, bronze = collector.roles, choose_gold(collector.roles), collector.roles.bronze
    runs = () if bronze is None else roles.runs_judged_by(bronze)
    if gold is None or bronze is None or not runs:
        for question in ("correct", "compare-corrected"):
            collector.add_obstacle(question, _obstacle_to_correction(roles, runs))
        return
    tops, paths = [run.top for run in runs], judged_runs(roles, bronze)
    arguments = judgment_arguments(bronze) | gold.arguments
    labels, bronze_rel = _keep_last_labels(bronze), gold.bronze_rel
    collector.suggest_if_computable(
        "correct",
        partial(correct, tops, labels, gold.labels_or_matrix, gold.measures, bronze_rel=bronze_rel),
        paths,
        arguments,
        why=gold.why or f"what {bronze.path} says, corrected by gold",
        calls=(DRAW_SAMPLE,),
    )
    if len(runs) < 2:
        collector.add_obstacle("compare-corrected", MORE_RUNS)
        return
    compare = partial(compare_corrected, tops[:MAX_RUNS_COMPARED], labels, gold.labels_or_matrix, bronze_rel=bronze_rel)
    if find_refusal(partial(compare, measures=gold.measures)) is None:
        collector.suggest("compare-corrected", paths, arguments)
    else:  # rates alone compare only P@k
        first = DEFAULT_MEASURES[0]
        compare_first, arguments = partial(compare, measures=[first]), {**arguments, "measures": first}
        collector.suggest_if_computable("compare-corrected", compare_first, paths, arguments, calls=(DRAW_SAMPLE,))


def _obstacle_to_correction(roles: FileRoles, runs: Sequence[RunFile]) -> Obstacle:
    """What is missing for a correction, and what to do about it."""
    if roles.main_judgments is None:
        return obstacle_to_evaluation(roles)
    unjudged = next((file for file in roles.unjudged if file.kind == "sample"), None)
    if unjudged is not None:
        unlabelled = unjudged.counts["documents"] - unjudged.counts.get("labelled", 0)
        needs = f"gold labels: {unlabelled:,} documents of {unjudged.path} wait for theirs"
        return Obstacle(reason=Note("needs-labels", needs), advice="let gold fill in the column label")
    if roles.bronze is None:
        return CHEAP_JUDGE
    if not runs:
        needs = f"runs of the queries in {roles.bronze.path}"
        return Obstacle(reason=Note("needs-common-queries", needs), advice="write the ids alike in both files")
    if roles.truth is not None:
        needs = f"gold labels that say how they were drawn, and {roles.truth.path} has no columns prob and design"
        whole_queries = Call(
            "evaluate",
            judged_runs(roles, roles.bronze),
            {**judgment_arguments(roles.bronze), "gold": roles.truth.path, "design": "whole_queries"},
            purpose="takes them as whole queries, if these were drawn by lot",
        )
        draw_some = Call("sample", purpose="draws some")
        return Obstacle(reason=Note("needs-gold-design", needs), calls=(draw_some, whole_queries))
    return Obstacle(
        reason=Note("needs-gold-labels", "gold labels of a few documents"),
        calls=(Call("sample", purpose="says which, and gold fills in a column label"),),
    )


def _suggest_sample(collector: SuggestionCollector) -> None:
    from ringtrue.gold.sampling import sample

    roles, labels = collector.roles, collector.roles.bronze
    if labels is None or not roles.runs_judged_by(labels):
        collector.add_obstacle("sample", obstacle_to_evaluation(roles) if roles.main_judgments is None else CHEAP_JUDGE)
        return
    if roles.sample is not None and _suggest_continued_sample(collector, labels, roles.sample):
        return
    tops = [run.top for run in roles.runs_judged_by(labels)]
    budget = min(SAMPLE_BUDGET, pl.concat([top.frame.select(DOC_KEYS) for top in tops]).n_unique())
    rng = np.random.default_rng(0)
    collector.suggest_if_computable(
        "sample",
        partial(sample, tops, _keep_last_labels(labels), DEFAULT_MEASURES[0], budget=budget, rng=rng),
        judged_runs(roles, labels),
        {**judgment_arguments(labels), "budget": budget, **collector.output("gold-sample.csv")},
        why=f"{budget} documents to begin with; any other number will do",
        advice="give other runs or judgments",
    )


def _suggest_continued_sample(collector: SuggestionCollector, labels: LabelFile, earlier: LabelFile) -> bool:
    """Whether the sample that there is can be continued, by documents or by whole queries; then that is the answer."""
    from ringtrue.gold.sampling import sample, sample_queries

    roles, design = collector.roles, earlier.counts["design"]
    tops, last_labels = [run.top for run in roles.runs_judged_by(labels)], _keep_last_labels(labels)
    draw: Callable[..., object]
    if design == "whole_queries":
        measure, size, unit = WHOLE_QUERY_MEASURES[1], SAMPLE_QUERIES, "queries"
        draw = partial(sample_queries, queries=size)
    elif design in EXTENDABLE_DESIGNS:
        measure, size, unit = DEFAULT_MEASURES[0], SAMPLE_BUDGET, "documents"
        frame = find_frame(earlier.path)
        draw = partial(sample, budget=size, sampling_frame=None if frame is None else read_sampling_frame(frame))
    else:
        return False
    rng = np.random.default_rng(0)
    if find_refusal(partial(draw, tops, last_labels, measure, already=earlier.judgments, rng=rng)) is not None:
        return False
    size_argument = "queries" if design == "whole_queries" else "budget"
    arguments = judgment_arguments(labels) | named_files(already=earlier)
    arguments |= {size_argument: size, "measures": measure, **collector.output("more-gold.csv")}
    why = f"{size} {unit} more; any other number will do"
    collector.suggest("sample", judged_runs(roles, labels), arguments, why=why)
    return True


def _suggest_plan(collector: SuggestionCollector) -> None:
    from ringtrue.gold.planning import plan

    roles, bronze = collector.roles, collector.roles.bronze
    gold = roles.sample or roles.truth
    if bronze is None or gold is None or not roles.runs_judged_by(bronze) or bronze.repeat_count:
        needs = Note("needs-gold-labels", "a cheap judge's labels, and gold labels of some of them")
        missing = Obstacle(reason=needs, calls=(PLAN_BY_NUMBERS,))
        collector.add_obstacle("plan", obstacle_to_evaluation(roles) if roles.main_judgments is None else missing)
        return
    run = roles.runs_judged_by(bronze)[0]
    rel, bronze_rel = relevance_levels(gold, bronze)
    arguments = named_files(judgments=bronze, gold=gold)
    arguments |= {"rel": rel, "bronze_rel": bronze_rel} if (rel, bronze_rel) != (1, 1) else {}
    arguments |= {"half_width": HALF_WIDTH}
    compute = partial(
        plan,
        [run.top],
        bronze.judgments,
        gold=gold.judgments,
        measure=f"P(rel={rel})@{TOP_DEPTH}",
        bronze_rel=bronze_rel,
        half_width=HALF_WIDTH,
    )
    why = f"for P@{TOP_DEPTH} within ±{HALF_WIDTH}"
    collector.suggest_if_computable("plan", compute, [run.path], arguments, why=why, calls=(PLAN_BY_NUMBERS,))


def _suggest_for_several(
    collector: SuggestionCollector, judged: JudgedFile, known_answers: Arguments, output: str
) -> None:
    """Several judges of the same documents, or pairs."""
    labels, repeats = [judged.path], repeats_argument(judged)
    collector.suggest("agree", labels, repeats)
    collector.suggest("judges", labels, repeats | known_answers)
    collector.suggest("aggregate", labels, repeats | collector.output(f"{judged.name.split('.')[0]}-{output}"))


def _suggest_disagreement(collector: SuggestionCollector, crowd: LabelFile) -> None:
    from ringtrue.judges.disagreement import disagree

    repeats: Repeats | None = None if not crowd.repeat_count else "last" if crowd.has_query else "all"
    collector.suggest_if_computable(
        "disagreement",
        partial(disagree, crowd.judgments, AT_LEAST, repeats=repeats, resamples=0),
        [crowd.path],
        {**repeats_argument(crowd), "at_least": AT_LEAST, **collector.output("gains.json")},
        why="if at least one user of three should call a document top",
        advice="give labels of users who differ",
    )


def _gold_arguments(roles: FileRoles, crowd: LabelFile) -> Arguments:
    """Trusted labels of documents that these judges labelled."""
    if (column := crowd.trusted_column) is not None:
        return named_files(gold=crowd) | {"gold_columns": {"label": column}, "gold_where": {f"{column}!": ""}}
    for gold in (roles.truth, roles.sample):
        if gold is not None and not gold.repeat_count and shares_documents(gold, crowd):
            return named_files(gold=gold)
    for table in roles.unjudged:
        if table.trusted_column and crowd.has_query and share_rows(crowd.judged_docs, table.docs):
            return named_files(gold=table) | {"gold_columns": {"label": table.trusted_column}}
    return {}


def _trap_arguments(roles: FileRoles, crowd: LabelFile) -> Arguments:
    traps = roles.traps
    return named_files(traps=traps) if traps is not None and shares_documents(traps, crowd) else {}


def _suggest_for_two_judges(collector: SuggestionCollector) -> None:
    """One judge against gold, where nobody else labelled the same documents."""
    roles = collector.roles
    gold = roles.truth or roles.sample
    candidates: Sequence[LabelFile | None] = (roles.bronze, *roles.judgments)
    why = ""
    if gold is None and len(roles.judgments) > 1:
        gold, *candidates = roles.judgments
        why = f"{gold.path} is taken for gold: it came first"
    judge = None
    if gold is not None:
        others = [file for file in candidates if file is not None and file is not gold]
        judge = next((file for file in others if shares_documents(file, gold)), None)
    for question in ("aggregate", "disagreement"):
        collector.add_obstacle(question, SECOND_JUDGE)
    if gold is None or judge is None or gold.repeat_count:
        for question in ("agree", "judges"):
            collector.add_obstacle(question, SECOND_JUDGE)
        return
    if gold.highest_label != judge.highest_label:
        scales = f"{judge.path} goes up to {judge.highest_label}, gold to {gold.highest_label}"
        why = f"{scales}: equal labels do not mean the same"
    for question in ("agree", "judges"):
        collector.suggest(question, [judge.path], repeats_argument(judge) | named_files(gold=gold), why=why)


def _suggest_rating(collector: SuggestionCollector) -> None:
    roles, votes = collector.roles, collector.roles.votes
    if votes is None:
        needs = Note("needs-preferences", "preferences: which of two documents is better")
        choose = Call("pairs", purpose="says which to compare, and people fill in judge and winner")
        collector.add_obstacle("rate", Obstacle(reason=needs, calls=(choose,)))
        return
    candidates = [file for file in (roles.truth, *roles.judgments) if file is not None and not file.repeat_count]
    gold = next((file for file in candidates if has_labels_of_voted_docs(file, votes)), None)
    collector.suggest("rate", [votes.path], repeats_argument(votes) | named_files(gold=gold))


def _keep_last_labels(labels: LabelFile) -> Judgments:
    return labels.judgments.without_repeats("last") if labels.repeat_count else labels.judgments
