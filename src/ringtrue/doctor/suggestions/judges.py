"""What can be asked about judges: how far they agree, how good each is, what their labels come to."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ringtrue.doctor.file_contents import LabelFile, VoteFile
from ringtrue.doctor.roles import Cast, in_common, shares_documents
from ringtrue.doctor.shell_commands import named
from ringtrue.doctor.suggestions.collector import Replies, again, refused
from ringtrue.doctor.suggestions.runs import LABEL_LINES, SECOND_JUDGE

__all__ = ["ask_about_judges"]

AT_LEAST = "1/3"


def ask_about_judges(replies: Replies) -> None:
    """Agree, judges, aggregate, disagreement, rate."""
    cast = replies.cast
    if cast.crowd is not None:
        _of_crowd(replies, cast.crowd)
    elif cast.votes is not None and cast.votes.shared:
        _of_voters(replies, cast.votes)
    else:
        _of_two(replies)
    _rate(replies)


def _of_crowd(replies: Replies, crowd: LabelFile) -> None:
    cast, name = replies.cast, named(crowd.path)
    replies.yes("agree", name, again(crowd))
    replies.yes("judges", name, again(crowd), *_gold_for(cast, crowd), *_traps_for(cast, crowd))
    stem = Path(crowd.path).name.split(".")[0]
    replies.yes("aggregate", name, again(crowd), "-o", named(replies.names.free(f"{stem}-one-label.qrels")))
    _disagreement(replies, crowd)


def _disagreement(replies: Replies, crowd: LabelFile) -> None:
    from ringtrue.judges.disagreement import disagree

    repeats = "last" if again(crowd) == "--repeats last" else "all" if again(crowd) else None
    why_not = refused(partial(disagree, crowd.judgments, AT_LEAST, repeats=repeats, resamples=0))  # type: ignore[arg-type]
    if why_not is not None:
        replies.refuse("disagreement", why_not, "give labels of users who differ")
        return
    why = "if at least one user of three should call a document top"
    replies.yes("disagreement", named(crowd.path), again(crowd), "--at-least", AT_LEAST, "-o",
                replies.names.free("gains.json"), why=why)  # fmt: skip


def _gold_for(cast: Cast, crowd: LabelFile) -> tuple[str, ...]:
    """The words for trusted labels of documents that these judges labelled."""
    if crowd.inside is not None:
        column = crowd.inside
        return "--gold", named(crowd.path), "--gold-columns", f"label={column}", "--gold-where", named(f"{column}!=")
    gold = next((one for one in (cast.truth, cast.sample) if one is not None and not one.again
                 and shares_documents(one, crowd)), None)  # fmt: skip
    if gold is not None:
        return "--gold", named(gold.path)
    table = next((one for one in cast.waiting if one.trusted and crowd.has_query
                  and crowd.judged.join(one.docs, on=["query", "doc"], how="semi").height), None)  # fmt: skip
    return () if table is None else ("--gold", named(table.path), "--gold-columns", named(f"label={table.trusted}"))


def _traps_for(cast: Cast, crowd: LabelFile) -> tuple[str, ...]:
    traps = cast.traps
    return ("--traps", named(traps.path)) if traps is not None and shares_documents(traps, crowd) else ()


def _of_voters(replies: Replies, votes: VoteFile) -> None:
    cast, name = replies.cast, named(votes.path)
    replies.yes("agree", name, again(votes))
    traps = () if cast.vote_traps is None else ("--traps", named(cast.vote_traps.path))
    replies.yes("judges", name, again(votes), *traps)
    stem = Path(votes.path).name.split(".")[0]
    replies.yes("aggregate", name, again(votes), "-o", named(replies.names.free(f"{stem}-one-vote.csv")))
    replies.no("disagreement", "labels of single documents, and these are preferences", LABEL_LINES)


def _of_two(replies: Replies) -> None:
    """One judge against gold, where nobody else labelled the same documents."""
    cast = replies.cast
    gold = cast.truth or cast.sample
    judge = next((one for one in (cast.bronze, *cast.judgments) if one is not None and gold is not None
                  and one is not gold and shares_documents(one, gold)), None)  # fmt: skip
    if gold is None and len(cast.judgments) > 1:
        first, *others = cast.judgments
        gold, judge = first, next((one for one in others if shares_documents(one, first)), None)
    if gold is not None and judge is not None and not gold.again:
        words = (named(judge.path), again(judge), "--gold", named(gold.path))
        why = "" if gold is cast.truth or gold is cast.sample else f"{gold.path} is taken for gold: it came first"
        if gold.highest != judge.highest:
            why = f"{judge.path} goes up to {judge.highest}, gold to {gold.highest}: equal labels do not mean the same"
        replies.yes("agree", *words, why=why)
        replies.yes("judges", *words, why=why)
    else:
        replies.no("agree", *SECOND_JUDGE)
        replies.no("judges", *SECOND_JUDGE)
    replies.no("aggregate", *SECOND_JUDGE)
    replies.no("disagreement", *SECOND_JUDGE)


def _rate(replies: Replies) -> None:
    cast, votes = replies.cast, replies.cast.votes
    if votes is None:
        replies.no("rate", "preferences: which of two documents is better",
                   "`ringtrue pairs` says which to compare, and people fill in judge and winner")  # fmt: skip
        return
    gold = next((one for one in (cast.truth, *cast.judgments) if one is not None and not one.again
                 and in_common(one, votes)), None)  # fmt: skip
    words = () if gold is None else ("--gold", named(gold.path))
    replies.yes("rate", named(votes.path), again(votes), *words)
