"""What to judge next, and everything on one page."""

from __future__ import annotations

from ringtrue.doctor.file_contents import VoteFile
from ringtrue.doctor.roles import Cast
from ringtrue.doctor.shell_commands import named, pattern
from ringtrue.doctor.suggestions.collector import Replies
from ringtrue.doctor.suggestions.gold import gold_of
from ringtrue.doctor.suggestions.runs import NO_RUN, blocked, runs_and
from ringtrue.doctor.summaries.runs import TOP
from ringtrue.files.source import STDIN
from ringtrue.formatting.phrases import first_few

__all__ = ["ask_what_next"]


def ask_what_next(replies: Replies) -> None:
    """Pool, pairs, serve, report; after all other questions."""
    cast = replies.cast
    if cast.runs:
        runs = pattern([run.path for run in cast.runs])
        replies.yes("pool", runs, "--depth", str(TOP), "-o", replies.names.free("pool.csv"))
    else:
        replies.no("pool", *NO_RUN)
    _pairs(replies)
    _serve(replies)
    _report(replies)


def _pairs(replies: Replies) -> None:
    cast = replies.cast
    pool = next((one for one in cast.waiting if one.kind == "pool"), None)
    if not cast.runs and pool is None:
        replies.no("pairs", *NO_RUN)
        return
    queries = {query for run in cast.runs for query in run.queries}
    from_ = pattern([run.path for run in cast.runs])
    if pool is not None and not cast.runs:
        queries, from_ = set(pool.docs["query"]), named(pool.path)
    words = [from_]
    if cast.votes is not None and _of_these(cast.votes, queries) and not cast.votes.again:
        words += ["--preferences", named(cast.votes.path)]
    if cast.vote_traps is not None and cast.vote_traps.has_query:
        words += ["--traps", named(cast.vote_traps.path)]
    replies.yes("pairs", *words, "-o", replies.names.free("pairs.csv"))


def _of_these(votes: VoteFile, queries: set[str]) -> bool:
    return not queries.isdisjoint(votes.preferences.frame["query"])


def _serve(replies: Replies) -> None:
    cast = replies.cast
    asked = [one.path for one in (*cast.waiting, *cast.runs) if one.path != STDIN]
    if not asked:
        replies.no("serve", *NO_RUN)
        return
    texts = [one.path for one in cast.texts if one.kind in ("topics", "documents")]
    also = f", with {first_few(texts)} for judges to read" if texts else ""
    replies.yes("serve", why=f"make a project of {first_few(asked)}{also}")


def _report(replies: Replies) -> None:
    cast = replies.cast
    corrects = "correct" in replies.can and cast.sample is not None
    judgments = cast.bronze if corrects else cast.main
    words: list[str] = []
    if judgments is not None and cast.judged_by(judgments):
        words += runs_and(cast, judgments)
        gold = gold_of(cast) if corrects else None
        words += () if gold is None else gold.words
        if gold is not None and cast.truth is not None and cast.truth in cast.judgments:
            words += ["--truth", named(cast.truth.path)]
    for option, path in _further(cast):
        words += [option, named(path)] if words or option != "--confusion" else []
    if words:
        replies.yes("report", *words, "-o", replies.names.free("report.html"))
    else:
        replies.no("report", *blocked(cast))


def _further(cast: Cast) -> list[tuple[str, str]]:
    """What else a report can show: labels of several judges, preferences, traps among the first of them, a matrix."""
    crowd = cast.crowd if cast.crowd is not None and cast.crowd.has_query else None
    traps = cast.traps if crowd is not None else cast.vote_traps if cast.votes is not None else None
    given = {"--labels": crowd, "--preferences": cast.votes, "--traps": traps, "--confusion": cast.matrix}
    return [(option, one.path) for option, one in given.items() if one is not None]
