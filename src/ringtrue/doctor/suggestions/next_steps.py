"""What to judge next, and everything on one page."""

from __future__ import annotations

from ringtrue.doctor.file_contents import VoteFile
from ringtrue.doctor.roles import FileRoles
from ringtrue.doctor.shell_commands import quote_path, quote_paths
from ringtrue.doctor.suggestions.collector import SuggestionCollector
from ringtrue.doctor.suggestions.gold import choose_gold
from ringtrue.doctor.suggestions.runs import NO_RUN, missing_for_evaluation, run_arguments
from ringtrue.doctor.summaries.runs import TOP_DEPTH
from ringtrue.files.byte_source import STDIN
from ringtrue.formatting.phrases import join_first_few


def suggest_next_steps(collector: SuggestionCollector) -> None:
    """Pool, pairs, serve, report; after all other questions."""
    roles = collector.roles
    if roles.runs:
        runs = quote_paths([run.path for run in roles.runs])
        collector.suggest("pool", runs, "--depth", str(TOP_DEPTH), "-o", collector.free_names.claim("pool.csv"))
    else:
        collector.add_missing("pool", *NO_RUN)
    _suggest_pairs(collector)
    _suggest_serve(collector)
    _suggest_report(collector)


def _suggest_pairs(collector: SuggestionCollector) -> None:
    roles = collector.roles
    pool = next((file for file in roles.unjudged if file.kind == "pool"), None)
    if not roles.runs and pool is None:
        collector.add_missing("pairs", *NO_RUN)
        return
    queries = {query for run in roles.runs for query in run.queries}
    source_argument = quote_paths([run.path for run in roles.runs])
    if pool is not None and not roles.runs:
        queries, source_argument = set(pool.docs["query"]), quote_path(pool.path)
    arguments = [source_argument]
    if roles.votes is not None and _has_votes_on(roles.votes, queries) and not roles.votes.repeat_count:
        arguments += ["--preferences", quote_path(roles.votes.path)]
    if roles.vote_traps is not None and roles.vote_traps.has_query:
        arguments += ["--traps", quote_path(roles.vote_traps.path)]
    collector.suggest("pairs", *arguments, "-o", collector.free_names.claim("pairs.csv"))


def _has_votes_on(votes: VoteFile, queries: set[str]) -> bool:
    return not queries.isdisjoint(votes.preferences.frame["query"])


def _suggest_serve(collector: SuggestionCollector) -> None:
    roles = collector.roles
    project_paths = [file.path for file in (*roles.unjudged, *roles.runs) if file.path != STDIN]
    if not project_paths:
        collector.add_missing("serve", *NO_RUN)
        return
    text_paths = [file.path for file in roles.texts if file.kind in ("topics", "documents")]
    texts_phrase = f", with {join_first_few(text_paths)} for judges to read" if text_paths else ""
    collector.suggest("serve", why=f"make a project of {join_first_few(project_paths)}{texts_phrase}")


def _suggest_report(collector: SuggestionCollector) -> None:
    roles = collector.roles
    is_corrected = "correct" in collector.can and roles.sample is not None
    judgments = roles.bronze if is_corrected else roles.main_judgments
    arguments: list[str] = []
    if judgments is not None and roles.runs_judged_by(judgments):
        arguments += run_arguments(roles, judgments)
        gold = choose_gold(roles) if is_corrected else None
        arguments += () if gold is None else gold.arguments
        if gold is not None and roles.truth is not None and roles.truth in roles.judgments:
            arguments += ["--truth", quote_path(roles.truth.path)]
    for option, path in _report_extras(roles):
        arguments += [option, quote_path(path)] if arguments or option != "--confusion" else []
    if arguments:
        collector.suggest("report", *arguments, "-o", collector.free_names.claim("report.html"))
    else:
        collector.add_missing("report", *missing_for_evaluation(roles))


def _report_extras(roles: FileRoles) -> list[tuple[str, str]]:
    """What else a report can show: labels of several judges, preferences, traps among the first of them, a matrix."""
    crowd = roles.crowd if roles.crowd is not None and roles.crowd.has_query else None
    traps = roles.traps if crowd is not None else roles.vote_traps if roles.votes is not None else None
    file_by_option = {"--labels": crowd, "--preferences": roles.votes, "--traps": traps, "--confusion": roles.matrix}
    return [(option, file.path) for option, file in file_by_option.items() if file is not None]
