"""What can be asked about runs: how good, which is better, by whose labels, how far from the best."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl

from ringtrue.doctor.file_contents import LabelFile
from ringtrue.doctor.roles import Cast, shares_documents
from ringtrue.doctor.shell_commands import named, pattern
from ringtrue.doctor.suggestions.collector import Replies, again, refused
from ringtrue.doctor.summaries.runs import TOP
from ringtrue.judges.votes import Repeats

__all__ = ["ask_about_runs", "blocked", "levels_of", "runs_and"]

COMPLETE = 0.9  # of a query's judged documents, for the average over judges to mean something
NO_RUN = ("a run: what a system returned", "write lines of `query Q0 doc rank score tag`, a file for each system")
SECOND_JUDGE = ("labels of the same documents by several judges", "put them into one table: query, doc, judge, label")
LABEL_LINES = "write lines of `query 0 doc label`, or a table with query, doc, judge, label"
MORE_RUNS = ("two runs or more", "give another run of the same queries")


def ask_about_runs(replies: Replies) -> None:
    """Evaluate, compare, curve, gains, stability, ceiling."""
    _evaluate(replies)
    _by_gains(replies)
    _stability(replies)
    _ceiling(replies)


def runs_and(cast: Cast, labels: LabelFile) -> tuple[str, ...]:
    """The words for the runs that these labels judge, and for the labels."""
    return pattern([run.path for run in cast.judged_by(labels)]), "--judgments", named(labels.path), again(labels)


def blocked(cast: Cast) -> tuple[str, str]:
    """What is missing to evaluate runs, and what to do about it."""
    if not cast.runs:
        return NO_RUN
    if cast.judgments:
        return (f"queries that runs and judgments share: {cast.judgments[0].path} has none of the runs'",
                "write the ids alike in both files, or give judgments of these queries")  # fmt: skip
    crowd = next((one for one in cast.crowds if one.has_query and cast.judged_by(one)), None)
    if crowd is not None:
        return f"one label for each document, and {crowd.path} has those of several judges", aggregate_first(crowd)
    if cast.sample is not None:
        return (f"judgments of all the documents, and {cast.sample.path} is a sample of them",
                "give the labels that it was drawn to correct")  # fmt: skip
    waiting = next((one for one in cast.waiting if one.kind in ("pool", "sample")), None)
    if waiting is not None:
        return (
            f"labels: those of {waiting.path} are still to be given",
            "fill in a column label, or use `ringtrue serve`",
        )
    return "judgments: which documents are relevant", f"`ringtrue pool` lists what to judge; {LABEL_LINES}"


def aggregate_first(crowd: LabelFile) -> str:
    """How several judges' labels become one."""
    return f"make one label of them with `ringtrue aggregate {named(crowd.path)} -o FILE.qrels`, and give that file too"


def levels_of(gold: LabelFile, bronze: LabelFile) -> tuple[int, int]:
    """From which label on each of two judges calls a document relevant.

    On the same scale, from 1 on. Where one has more grades than the other, the upper half of each scale counts.
    """
    if gold.highest == bronze.highest or min(gold.highest, bronze.highest) < 1:
        return 1, 1
    return (gold.highest + 1) // 2, (bronze.highest + 1) // 2


def _evaluate(replies: Replies) -> None:
    cast, main = replies.cast, replies.cast.main
    if main is not None:
        words = runs_and(cast, main)
        replies.yes("evaluate", *words, why=_why(cast, main))
        replies.yes("curve", *words)
        if len(cast.judged_by(main)) > 1:
            replies.yes("compare", *words)
        else:
            replies.no("compare", *MORE_RUNS)
        return
    needs = blocked(cast)
    crowd = next((one for one in cast.crowds if one.has_query and cast.judged_by(one)), None)
    if crowd is not None and _complete(crowd) and not crowd.again and not cast.judgments:
        words = (*runs_and(cast, crowd), "--judges", "average")
        replies.yes("evaluate", *words, why="the average over the judges, who labelled nearly the same documents")
        replies.yes("curve", *words)
        replies.no("compare", *needs)
        return
    for question in ("evaluate", "compare", "curve"):
        replies.no(question, *needs)


def _why(cast: Cast, main: LabelFile) -> str:
    """Why these judgments, where there are others."""
    others = [one for one in cast.judgments if one is not main and cast.judged_by(one)]
    if not others:
        return ""
    if main is cast.truth:
        return f"{main.path} is taken for the labels to be trusted, by its name"
    return f"{main.path} is one of {len(others) + 1} files of judgments: any of them will do"


def _complete(crowd: LabelFile) -> bool:
    """Whether each judge labelled nearly all of the judged documents of a query."""
    by_judge = crowd.judgments.frame.unique(["query", "doc", "judge"]).group_by("query", "judge").len("seen")
    by_query = crowd.judged.group_by("query").len("judged")
    share = by_judge.join(by_query, on="query").select((pl.col("seen") / pl.col("judged")).mean()).item()
    return share is not None and share >= COMPLETE


def _by_gains(replies: Replies) -> None:
    cast, main, gains = replies.cast, replies.cast.main, replies.cast.gains
    if gains is None:
        return
    if main is None:
        replies.no("gains", *blocked(cast))
        return
    labels = main.judgments.frame["label"].unique().sort().to_list()
    if lacking := [label for label in labels if label > 0 and label not in gains.gains]:
        replies.no("gains", f"a gain for label {lacking[0]} of {main.path} in {gains.path}",
                   "give every label above 0 a gain")  # fmt: skip
    else:
        replies.yes("gains", *runs_and(cast, main), "--gains", named(gains.path))


def _stability(replies: Replies) -> None:
    cast, main = replies.cast, replies.cast.main
    if main is None or len(cast.judged_by(main)) < 2:
        replies.no("stability", *(blocked(cast) if main is None else MORE_RUNS))
        return
    runs, queries = set(cast.judged_by(main)), set(main.judgments.frame["query"])
    others = [one for one in cast.judgments if one is not main and set(cast.judged_by(one)) >= runs
              and not queries.isdisjoint(one.judgments.frame["query"]) and (main.again or not one.again)]  # fmt: skip
    if not others:
        crowd = cast.crowd if cast.crowd is not None and cast.crowd.has_query else None
        todo = "give a second file of judgments" if crowd is None else aggregate_first(crowd)
        replies.no("stability", "a second judge's labels of the documents", todo)
        return
    other = next((one for one in others if one is cast.bronze), others[0])
    rel, other_rel = levels_of(main, other)
    words = [*runs_and(cast, main), "--versus", named(other.path)]
    why = []
    if (rel, other_rel) != (1, 1):
        words += ["--rel", str(rel), "--versus-rel", str(other_rel), "-m", "nDCG@10,P@10"]
        why.append(f"{main.path} goes up to {main.highest}, {other.path} to {other.highest}: the upper half of each "
                   f"scale counts as relevant")  # fmt: skip
    if len(others) > 1:
        why.append(f"there are {len(others) - 1} more judges for --versus")
    replies.yes("stability", *words, why="; ".join(why))


def _ceiling(replies: Replies) -> None:
    from ringtrue.judges.ceiling import ceiling, estimate_confusion

    cast = replies.cast
    testing = cast.truth or cast.main or (cast.judgments[0] if cast.judgments else None)
    if testing is None:
        crowd = next((one for one in cast.crowds if one.has_query), None)
        if crowd is not None:
            replies.no("ceiling", "one label for each document, to test by", aggregate_first(crowd))
        else:
            replies.no("ceiling", *SECOND_JUDGE)
        return
    runs = cast.judged_by(testing)
    words = [*runs_and(cast, testing), "-k", str(TOP)]
    others = (*cast.crowds, *(one for one in (cast.bronze,) if one is not None and one is not testing))
    labels = next((one for one in others if shares_documents(one, testing)), None)
    if labels is None and cast.matrix is None:
        replies.no("ceiling", *SECOND_JUDGE)
        return
    compute: Callable[[], object]
    if labels is None:
        assert cast.matrix is not None
        words += ["--confusion", named(cast.matrix.path)]
        tops = [run.top for run in runs]
        compute = partial(ceiling, testing.judgments, cast.matrix.matrix, k=TOP, runs=tops or None)
    else:
        words += ["--labels", named(labels.path), "--gold", named(testing.path)]
        repeats: Repeats | None = "last" if labels.again else None
        words += ["--repeats", "last"] if labels.again and not testing.again else []
        compute = partial(estimate_confusion, labels.judgments, gold=testing.judgments, repeats=repeats)
    why_not = refused(compute)
    if why_not is None:
        replies.yes("ceiling", *words)
    else:
        replies.refuse("ceiling", why_not, "give labels of two judges who labelled the same documents")
