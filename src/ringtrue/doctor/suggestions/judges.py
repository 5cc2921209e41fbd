"""What can be asked about judges: how far they agree, how good each is, what their labels come to."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ringtrue.doctor.file_contents import LabelFile, VoteFile
from ringtrue.doctor.roles import FileRoles, has_labels_of_voted_docs, shares_documents
from ringtrue.doctor.shell_commands import quote_path
from ringtrue.doctor.suggestions.collector import SuggestionCollector, find_refusal, repeats_option
from ringtrue.doctor.suggestions.runs import LABEL_LINES, SECOND_JUDGE

AT_LEAST = "1/3"


def suggest_for_judges(collector: SuggestionCollector) -> None:
    """Agree, judges, aggregate, disagreement, rate."""
    roles = collector.roles
    if roles.crowd is not None:
        _suggest_for_crowd(collector, roles.crowd)
    elif roles.votes is not None and roles.votes.shared_count:
        _suggest_for_voters(collector, roles.votes)
    else:
        _suggest_for_two_judges(collector)
    _suggest_rating(collector)


def _suggest_for_crowd(collector: SuggestionCollector, crowd: LabelFile) -> None:
    roles, name = collector.roles, quote_path(crowd.path)
    collector.suggest("agree", name, repeats_option(crowd))
    collector.suggest(
        "judges", name, repeats_option(crowd), *_gold_arguments(roles, crowd), *_trap_arguments(roles, crowd)
    )
    stem = Path(crowd.path).name.split(".")[0]
    collector.suggest(
        "aggregate",
        name,
        repeats_option(crowd),
        "-o",
        quote_path(collector.free_names.claim(f"{stem}-one-label.qrels")),
    )
    _suggest_disagreement(collector, crowd)


def _suggest_disagreement(collector: SuggestionCollector, crowd: LabelFile) -> None:
    from ringtrue.judges.disagreement import disagree

    repeats = "last" if repeats_option(crowd) == "--repeats last" else "all" if repeats_option(crowd) else None
    why_not = find_refusal(partial(disagree, crowd.judgments, AT_LEAST, repeats=repeats, resamples=0))  # type: ignore[arg-type]
    if why_not is not None:
        collector.add_refusal("disagreement", why_not, "give labels of users who differ")
        return
    why = "if at least one user of three should call a document top"
    collector.suggest(
        "disagreement",
        quote_path(crowd.path),
        repeats_option(crowd),
        "--at-least",
        AT_LEAST,
        "-o",
        collector.free_names.claim("gains.json"),
        why=why,
    )


def _gold_arguments(roles: FileRoles, crowd: LabelFile) -> tuple[str, ...]:
    """The words for trusted labels of documents that these judges labelled."""
    if crowd.trusted_column is not None:
        column = crowd.trusted_column
        return (
            "--gold",
            quote_path(crowd.path),
            "--gold-columns",
            f"label={column}",
            "--gold-where",
            quote_path(f"{column}!="),
        )
    gold = next(
        (
            file
            for file in (roles.truth, roles.sample)
            if file is not None and not file.repeat_count and shares_documents(file, crowd)
        ),
        None,
    )
    if gold is not None:
        return "--gold", quote_path(gold.path)
    table = next(
        (
            file
            for file in roles.unjudged
            if file.trusted_column
            and crowd.has_query
            and crowd.judged_docs.join(file.docs, on=["query", "doc"], how="semi").height
        ),
        None,
    )
    return (
        ()
        if table is None
        else ("--gold", quote_path(table.path), "--gold-columns", quote_path(f"label={table.trusted_column}"))
    )


def _trap_arguments(roles: FileRoles, crowd: LabelFile) -> tuple[str, ...]:
    traps = roles.traps
    return ("--traps", quote_path(traps.path)) if traps is not None and shares_documents(traps, crowd) else ()


def _suggest_for_voters(collector: SuggestionCollector, votes: VoteFile) -> None:
    roles, name = collector.roles, quote_path(votes.path)
    collector.suggest("agree", name, repeats_option(votes))
    traps = () if roles.vote_traps is None else ("--traps", quote_path(roles.vote_traps.path))
    collector.suggest("judges", name, repeats_option(votes), *traps)
    stem = Path(votes.path).name.split(".")[0]
    collector.suggest(
        "aggregate", name, repeats_option(votes), "-o", quote_path(collector.free_names.claim(f"{stem}-one-vote.csv"))
    )
    collector.add_missing("disagreement", "labels of single documents, and these are preferences", LABEL_LINES)


def _suggest_for_two_judges(collector: SuggestionCollector) -> None:
    """One judge against gold, where nobody else labelled the same documents."""
    roles = collector.roles
    gold = roles.truth or roles.sample
    judge = next(
        (
            file
            for file in (roles.bronze, *roles.judgments)
            if file is not None and gold is not None and file is not gold and shares_documents(file, gold)
        ),
        None,
    )
    if gold is None and len(roles.judgments) > 1:
        first, *second_files = roles.judgments
        gold, judge = first, next((file for file in second_files if shares_documents(file, first)), None)
    if gold is not None and judge is not None and not gold.repeat_count:
        arguments = (quote_path(judge.path), repeats_option(judge), "--gold", quote_path(gold.path))
        why = "" if gold is roles.truth or gold is roles.sample else f"{gold.path} is taken for gold: it came first"
        if gold.highest_label != judge.highest_label:
            why = (
                f"{judge.path} goes up to {judge.highest_label}, gold to {gold.highest_label}: equal labels do "
                f"not mean the same"
            )
        collector.suggest("agree", *arguments, why=why)
        collector.suggest("judges", *arguments, why=why)
    else:
        collector.add_missing("agree", *SECOND_JUDGE)
        collector.add_missing("judges", *SECOND_JUDGE)
    collector.add_missing("aggregate", *SECOND_JUDGE)
    collector.add_missing("disagreement", *SECOND_JUDGE)


def _suggest_rating(collector: SuggestionCollector) -> None:
    roles, votes = collector.roles, collector.roles.votes
    if votes is None:
        collector.add_missing(
            "rate",
            "preferences: which of two documents is better",
            "`ringtrue pairs` says which to compare, and people fill in judge and winner",
        )
        return
    gold = next(
        (
            file
            for file in (roles.truth, *roles.judgments)
            if file is not None and not file.repeat_count and has_labels_of_voted_docs(file, votes)
        ),
        None,
    )
    gold_arguments = () if gold is None else ("--gold", quote_path(gold.path))
    collector.suggest("rate", quote_path(votes.path), repeats_option(votes), *gold_arguments)
