"""What can be asked about runs: how good, which is better, how far from the best; and what to judge next."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl

from ringtrue.doctor.label_suggestions import choose_gold
from ringtrue.doctor.results import Obstacle
from ringtrue.doctor.roles import FileContents, FileRoles, LabelFile, shares_documents
from ringtrue.doctor.suggestions import (
    MORE_RUNS,
    NO_RUN,
    SECOND_JUDGE,
    Arguments,
    SuggestionCollector,
    aggregation_call,
    judged_runs,
    judgment_arguments,
    named_files,
    obstacle_to_evaluation,
    relevance_levels,
)
from ringtrue.doctor.summaries import TOP_DEPTH
from ringtrue.files.byte_source import STDIN
from ringtrue.formatting.phrases import join_first_few
from ringtrue.judges.votes import Repeats
from ringtrue.messages import Note

COMPLETE_SHARE = 0.9  # of a query's judged documents, for the average over judges to mean something


def suggest_for_runs(collector: SuggestionCollector) -> None:
    """Evaluate, compare, curve, gains, stability, ceiling."""
    _suggest_evaluation(collector)
    _suggest_gains(collector)
    _suggest_stability(collector)
    _suggest_ceiling(collector)


def _suggest_evaluation(collector: SuggestionCollector) -> None:
    roles, main = collector.roles, collector.roles.main_judgments
    if main is not None:
        runs, arguments = judged_runs(roles, main), judgment_arguments(main)
        collector.suggest("evaluate", runs, arguments, why=_why_these_judgments(roles, main))
        collector.suggest("curve", runs, arguments)
        if len(runs) > 1:
            collector.suggest("compare", runs, arguments)
        else:
            collector.add_obstacle("compare", MORE_RUNS)
        return
    obstacle = obstacle_to_evaluation(roles)
    crowd = next((file for file in roles.crowds if file.has_query and roles.runs_judged_by(file)), None)
    if crowd is not None and _is_complete(crowd) and not crowd.repeat_count and not roles.judgments:
        runs, arguments = judged_runs(roles, crowd), {**judgment_arguments(crowd), "judges": "average"}
        why = "the average over the judges, who labelled nearly the same documents"
        collector.suggest("evaluate", runs, arguments, why=why)
        collector.suggest("curve", runs, arguments)
        collector.add_obstacle("compare", obstacle)
        return
    for question in ("evaluate", "compare", "curve"):
        collector.add_obstacle(question, obstacle)


def _why_these_judgments(roles: FileRoles, main: LabelFile) -> str:
    """Why these judgments, where there are others."""
    alternatives = [file for file in roles.judgments if file is not main and roles.runs_judged_by(file)]
    if not alternatives:
        return ""
    if main is roles.truth:
        return f"{main.path} is taken for the labels to be trusted, by its name"
    return f"{main.path} is one of {len(alternatives) + 1} files of judgments: any of them will do"


def _is_complete(crowd: LabelFile) -> bool:
    """Whether each judge labelled nearly all of the judged documents of a query."""
    by_judge = crowd.judgments.frame.unique(["query", "doc", "judge"]).group_by("query", "judge").len("seen")
    by_query = crowd.judged_docs.group_by("query").len("judged")
    share = by_judge.join(by_query, on="query").select((pl.col("seen") / pl.col("judged")).mean()).item()
    return share is not None and share >= COMPLETE_SHARE


def _suggest_gains(collector: SuggestionCollector) -> None:
    roles, main, gains = collector.roles, collector.roles.main_judgments, collector.roles.gains
    if gains is None:
        return
    if main is None:
        collector.add_obstacle("gains", obstacle_to_evaluation(roles))
        return
    labels = main.judgments.frame["label"].unique().sort().to_list()
    if without_gain := [label for label in labels if label > 0 and label not in gains.gains]:
        needs = f"a gain for label {without_gain[0]} of {main.path} in {gains.path}"
        obstacle = Obstacle(reason=Note("needs-gain", needs), advice="give every label above 0 a gain")
        collector.add_obstacle("gains", obstacle)
    else:
        collector.suggest("gains", judged_runs(roles, main), judgment_arguments(main) | named_files(gains=gains))


def _suggest_stability(collector: SuggestionCollector) -> None:
    roles, main = collector.roles, collector.roles.main_judgments
    if main is None or len(roles.runs_judged_by(main)) < 2:
        collector.add_obstacle("stability", obstacle_to_evaluation(roles) if main is None else MORE_RUNS)
        return
    runs, queries = set(roles.runs_judged_by(main)), set(main.judgments.frame["query"])
    alternatives = [
        file
        for file in roles.judgments
        if file is not main
        and set(roles.runs_judged_by(file)) >= runs
        and not queries.isdisjoint(file.judgments.frame["query"])
        and (main.repeat_count or not file.repeat_count)
    ]
    if not alternatives:
        crowd = roles.crowd if roles.crowd is not None and roles.crowd.has_query else None
        obstacle = Obstacle(
            reason=Note("needs-second-judge", "a second judge's labels of the documents"),
            advice="give a second file of judgments" if crowd is None else "",
            calls=() if crowd is None else (aggregation_call(crowd),),
        )
        collector.add_obstacle("stability", obstacle)
        return
    second = next((file for file in alternatives if file is roles.bronze), alternatives[0])
    rel, second_rel = relevance_levels(main, second)
    arguments = judgment_arguments(main) | named_files(versus=second)
    reasons = []
    if (rel, second_rel) != (1, 1):
        arguments |= {"rel": rel, "versus_rel": second_rel, "measures": "nDCG@10,P@10"}
        scales = f"{main.path} goes up to {main.highest_label}, {second.path} to {second.highest_label}"
        reasons.append(f"{scales}: the upper half of each scale counts as relevant")
    if len(alternatives) > 1:
        reasons.append(f"there are {len(alternatives) - 1} more judges to compare it with")
    collector.suggest("stability", judged_runs(roles, main), arguments, why="; ".join(reasons))


def _suggest_ceiling(collector: SuggestionCollector) -> None:
    from ringtrue.judges.ceiling import ceiling, estimate_confusion

    roles = collector.roles
    testing = roles.truth or roles.main_judgments or next(iter(roles.judgments), None)
    crowd = next((file for file in roles.crowds if file.has_query), None)
    if testing is None and crowd is not None:
        needs = Note("needs-one-label", "one label for each document, to test by")
        collector.add_obstacle("ceiling", Obstacle(reason=needs, calls=(aggregation_call(crowd),)))
        return
    candidates = [file for file in (*roles.crowds, roles.bronze) if file is not None and file is not testing]
    labels = next((file for file in candidates if testing is not None and shares_documents(file, testing)), None)
    if testing is None or (labels is None and roles.matrix is None):
        collector.add_obstacle("ceiling", SECOND_JUDGE)
        return
    arguments: Arguments = {**judgment_arguments(testing), "k": TOP_DEPTH}
    compute: Callable[[], object]
    if labels is None:
        assert roles.matrix is not None
        arguments |= named_files(confusion=roles.matrix)
        tops = [run.top for run in roles.runs_judged_by(testing)]
        compute = partial(ceiling, testing.judgments, roles.matrix.matrix, k=TOP_DEPTH, runs=tops or None)
    else:
        repeats: Repeats | None = "last" if labels.repeat_count else None
        arguments |= named_files(labels=labels, gold=testing)
        arguments |= {"repeats": repeats} if repeats and not testing.repeat_count else {}
        compute = partial(estimate_confusion, labels.judgments, gold=testing.judgments, repeats=repeats)
    advice = "give labels of two judges who labelled the same documents"
    collector.suggest_if_computable("ceiling", compute, judged_runs(roles, testing), arguments, advice=advice)


def suggest_next_steps(collector: SuggestionCollector) -> None:
    """Pool, pairs, serve, report; after all other questions."""
    if collector.roles.runs:
        runs = [run.path for run in collector.roles.runs]
        collector.suggest("pool", runs, {"depth": TOP_DEPTH, **collector.output("pool.csv")})
    else:
        collector.add_obstacle("pool", NO_RUN)
    _suggest_pairs(collector)
    _suggest_serve(collector)
    _suggest_report(collector)


def _suggest_pairs(collector: SuggestionCollector) -> None:
    roles = collector.roles
    pool = next((file for file in roles.unjudged if file.kind == "pool"), None)
    if roles.runs:
        queries = {query for run in roles.runs for query in run.queries}
        candidates = [run.path for run in roles.runs]
    elif pool is not None:
        queries, candidates = set(pool.docs["query"]), [pool.path]
    else:
        collector.add_obstacle("pairs", NO_RUN)
        return
    votes, traps = roles.votes, roles.vote_traps
    arguments: Arguments = {}
    if votes is not None and not votes.repeat_count and not queries.isdisjoint(votes.preferences.frame["query"]):
        arguments |= named_files(preferences=votes)
    if traps is not None and traps.has_query:
        arguments |= named_files(traps=traps)
    collector.suggest("pairs", candidates, arguments | collector.output("pairs.csv"))


def _suggest_serve(collector: SuggestionCollector) -> None:
    roles = collector.roles
    to_judge = [file for file in roles.unjudged if file.kind != "frame"]
    project_paths = [file.path for file in (*to_judge, *roles.runs) if file.path != STDIN]
    if not project_paths:
        collector.add_obstacle("serve", NO_RUN)
        return
    text_paths = [file.path for file in roles.texts if file.kind in ("topics", "documents")]
    texts_phrase = f", with {join_first_few(text_paths)} for judges to read" if text_paths else ""
    collector.suggest("serve", [], {}, why=f"make a project of {join_first_few(project_paths)}{texts_phrase}")


def _suggest_report(collector: SuggestionCollector) -> None:
    """Runs and judgments, corrected where that can be done, and whatever else a report can show."""
    roles = collector.roles
    is_corrected = "correct" in collector.can and roles.sample is not None
    judgments = roles.bronze if is_corrected else roles.main_judgments
    runs: list[str] = []
    arguments: Arguments = {}
    if judgments is not None and roles.runs_judged_by(judgments):
        runs, arguments = judged_runs(roles, judgments), judgment_arguments(judgments)
        if is_corrected and (gold := choose_gold(roles)) is not None:
            arguments |= gold.arguments
            arguments |= named_files(truth=roles.truth if roles.truth in roles.judgments else None)
    crowd = roles.crowd if roles.crowd is not None and roles.crowd.has_query else None
    traps: FileContents | None = (
        roles.traps if crowd is not None else roles.vote_traps if roles.votes is not None else None
    )
    arguments |= named_files(labels=crowd, preferences=roles.votes, traps=traps)
    if arguments:
        arguments |= named_files(confusion=roles.matrix)
        collector.suggest("report", runs, arguments | collector.output("report.html"))
    else:
        collector.add_obstacle("report", obstacle_to_evaluation(roles))
