"""What can be asked about runs: how good, which is better, by whose labels, how far from the best."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl

from ringtrue.doctor.file_contents import LabelFile
from ringtrue.doctor.roles import FileRoles, shares_documents
from ringtrue.doctor.shell_commands import quote_path, quote_paths
from ringtrue.doctor.suggestions.collector import SuggestionCollector, find_refusal, repeats_option
from ringtrue.doctor.summaries.runs import TOP_DEPTH
from ringtrue.judges.votes import Repeats

COMPLETE_SHARE = 0.9  # of a query's judged documents, for the average over judges to mean something
NO_RUN = ("a run: what a system returned", "write lines of `query Q0 doc rank score tag`, a file for each system")
SECOND_JUDGE = ("labels of the same documents by several judges", "put them into one table: query, doc, judge, label")
LABEL_LINES = "write lines of `query 0 doc label`, or a table with query, doc, judge, label"
MORE_RUNS = ("two runs or more", "give another run of the same queries")


def suggest_for_runs(collector: SuggestionCollector) -> None:
    """Evaluate, compare, curve, gains, stability, ceiling."""
    _suggest_evaluation(collector)
    _suggest_gains(collector)
    _suggest_stability(collector)
    _suggest_ceiling(collector)


def run_arguments(roles: FileRoles, labels: LabelFile) -> tuple[str, ...]:
    """The words for the runs that these labels judge, and for the labels."""
    return (
        quote_paths([run.path for run in roles.runs_judged_by(labels)]),
        "--judgments",
        quote_path(labels.path),
        repeats_option(labels),
    )


def missing_for_evaluation(roles: FileRoles) -> tuple[str, str]:
    """What is missing to evaluate runs, and what to do about it."""
    if not roles.runs:
        return NO_RUN
    if roles.judgments:
        return (
            f"queries that runs and judgments share: {roles.judgments[0].path} has none of the runs'",
            "write the ids alike in both files, or give judgments of these queries",
        )
    crowd = next((file for file in roles.crowds if file.has_query and roles.runs_judged_by(file)), None)
    if crowd is not None:
        return f"one label for each document, and {crowd.path} has those of several judges", aggregation_advice(crowd)
    if roles.sample is not None:
        return (
            f"judgments of all the documents, and {roles.sample.path} is a sample of them",
            "give the labels that it was drawn to correct",
        )
    unjudged = next((file for file in roles.unjudged if file.kind in ("pool", "sample")), None)
    if unjudged is not None:
        return (
            f"labels: those of {unjudged.path} are still to be given",
            "fill in a column label, or use `ringtrue serve`",
        )
    return "judgments: which documents are relevant", f"`ringtrue pool` lists what to judge; {LABEL_LINES}"


def aggregation_advice(crowd: LabelFile) -> str:
    """How several judges' labels become one."""
    return (
        f"make one label of them with `ringtrue aggregate {quote_path(crowd.path)} -o FILE.qrels`, and give that "
        f"file too"
    )


def relevance_levels(gold: LabelFile, bronze: LabelFile) -> tuple[int, int]:
    """From which label on each of two judges calls a document relevant.

    On the same scale, from 1 on. Where one has more grades than the other, the upper half of each scale counts.
    """
    if gold.highest_label == bronze.highest_label or min(gold.highest_label, bronze.highest_label) < 1:
        return 1, 1
    return (gold.highest_label + 1) // 2, (bronze.highest_label + 1) // 2


def _suggest_evaluation(collector: SuggestionCollector) -> None:
    roles, main = collector.roles, collector.roles.main_judgments
    if main is not None:
        arguments = run_arguments(roles, main)
        collector.suggest("evaluate", *arguments, why=_why_these_judgments(roles, main))
        collector.suggest("curve", *arguments)
        if len(roles.runs_judged_by(main)) > 1:
            collector.suggest("compare", *arguments)
        else:
            collector.add_missing("compare", *MORE_RUNS)
        return
    missing = missing_for_evaluation(roles)
    crowd = next((file for file in roles.crowds if file.has_query and roles.runs_judged_by(file)), None)
    if crowd is not None and _is_complete(crowd) and not crowd.repeat_count and not roles.judgments:
        arguments = (*run_arguments(roles, crowd), "--judges", "average")
        collector.suggest(
            "evaluate", *arguments, why="the average over the judges, who labelled nearly the same documents"
        )
        collector.suggest("curve", *arguments)
        collector.add_missing("compare", *missing)
        return
    for question in ("evaluate", "compare", "curve"):
        collector.add_missing(question, *missing)


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
        collector.add_missing("gains", *missing_for_evaluation(roles))
        return
    labels = main.judgments.frame["label"].unique().sort().to_list()
    if without_gain := [label for label in labels if label > 0 and label not in gains.gains]:
        collector.add_missing(
            "gains",
            f"a gain for label {without_gain[0]} of {main.path} in {gains.path}",
            "give every label above 0 a gain",
        )
    else:
        collector.suggest("gains", *run_arguments(roles, main), "--gains", quote_path(gains.path))


def _suggest_stability(collector: SuggestionCollector) -> None:
    roles, main = collector.roles, collector.roles.main_judgments
    if main is None or len(roles.runs_judged_by(main)) < 2:
        collector.add_missing("stability", *(missing_for_evaluation(roles) if main is None else MORE_RUNS))
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
        todo = "give a second file of judgments" if crowd is None else aggregation_advice(crowd)
        collector.add_missing("stability", "a second judge's labels of the documents", todo)
        return
    second = next((file for file in alternatives if file is roles.bronze), alternatives[0])
    rel, second_rel = relevance_levels(main, second)
    arguments = [*run_arguments(roles, main), "--versus", quote_path(second.path)]
    reasons = []
    if (rel, second_rel) != (1, 1):
        arguments += ["--rel", str(rel), "--versus-rel", str(second_rel), "-m", "nDCG@10,P@10"]
        reasons.append(
            f"{main.path} goes up to {main.highest_label}, {second.path} to {second.highest_label}: the upper half of "
            "each scale counts as relevant"
        )
    if len(alternatives) > 1:
        reasons.append(f"there are {len(alternatives) - 1} more judges for --versus")
    collector.suggest("stability", *arguments, why="; ".join(reasons))


def _suggest_ceiling(collector: SuggestionCollector) -> None:
    from ringtrue.judges.ceiling import ceiling, estimate_confusion

    roles = collector.roles
    testing = roles.truth or roles.main_judgments or (roles.judgments[0] if roles.judgments else None)
    if testing is None:
        crowd = next((file for file in roles.crowds if file.has_query), None)
        if crowd is not None:
            collector.add_missing("ceiling", "one label for each document, to test by", aggregation_advice(crowd))
        else:
            collector.add_missing("ceiling", *SECOND_JUDGE)
        return
    runs = roles.runs_judged_by(testing)
    arguments = [*run_arguments(roles, testing), "-k", str(TOP_DEPTH)]
    candidates = (*roles.crowds, *(file for file in (roles.bronze,) if file is not None and file is not testing))
    labels = next((file for file in candidates if shares_documents(file, testing)), None)
    if labels is None and roles.matrix is None:
        collector.add_missing("ceiling", *SECOND_JUDGE)
        return
    compute: Callable[[], object]
    if labels is None:
        assert roles.matrix is not None
        arguments += ["--confusion", quote_path(roles.matrix.path)]
        tops = [run.top for run in runs]
        compute = partial(ceiling, testing.judgments, roles.matrix.matrix, k=TOP_DEPTH, runs=tops or None)
    else:
        arguments += ["--labels", quote_path(labels.path), "--gold", quote_path(testing.path)]
        repeats: Repeats | None = "last" if labels.repeat_count else None
        arguments += ["--repeats", "last"] if labels.repeat_count and not testing.repeat_count else []
        compute = partial(estimate_confusion, labels.judgments, gold=testing.judgments, repeats=repeats)
    why_not = find_refusal(compute)
    if why_not is None:
        collector.suggest("ceiling", *arguments)
    else:
        collector.add_refusal("ceiling", why_not, "give labels of two judges who labelled the same documents")
