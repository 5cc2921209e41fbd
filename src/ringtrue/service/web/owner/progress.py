"""How a project goes: how far it is and what to do next, how far its judges agree, and how well each does.

The tables and sentences about judges are in the words of `ringtrue agree` and `ringtrue judges`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from fastapi import APIRouter, Request, Response

from ringtrue.errors import ConflictError, NotFoundError
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.agreement.coefficients import describe_alpha
from ringtrue.messages import spell_all
from ringtrue.service.collect.quality import assess_quality
from ringtrue.service.store.accounts import load_accounts
from ringtrue.service.store.adjudication import count_disagreements
from ringtrue.service.store.answers import reinstate_task, set_aside_task
from ringtrue.service.store.invitations import load_invitations
from ringtrue.service.store.progress import (
    JudgeProgress,
    QueryProgress,
    UnsureReason,
    count_active_judges,
    load_failed_tasks,
    load_judge_progress,
    load_progress,
    load_progress_by_query,
    load_unsure_reasons,
)
from ringtrue.service.web.auth.dependencies import Member, ProjectOwner, Viewer
from ringtrue.service.web.field_spelling import NO_FIELDS
from ringtrue.service.web.owner.page_layout import (
    PathId,
    redirect_with_notes,
    render_owner_page,
    with_audit_record,
)
from ringtrue.service.web.responses import see_other

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.judges.agreement import Agreement
    from ringtrue.judges.quality import JudgeQuality, JudgeReport
    from ringtrue.service.store.records import Progress
    from ringtrue.stats.results import Estimate

router = APIRouter(include_in_schema=False)
SEED = 0  # the same labels give the same intervals, however often the page is loaded
MAX_QUERIES_SHOWN, MAX_JUDGES_SHOWN, MAX_PAIRS_SHOWN = 500, 200, 20
STATISTIC_NAMES = {
    "agreement": "Two labels of an item are equal",
    "overlap": "Overlap of the relevant (1 and above)",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "fleiss_kappa": "Fleiss' kappa",
    "ac1": "Gwet's AC1",
    "self_consistency": "The same judge again",
}
LABEL_STATISTICS = ("overlap", "alpha_ordinal")
NO_VALUE = "–"
JUDGE_CELLS: dict[str, Callable[[JudgeReport], str]] = {
    "Others": lambda report: _format_percent(report.others_accuracy),
    "Lenient": lambda report: (
        NO_VALUE
        if report.leniency is None or report.leniency.value is None
        else _with_minus_signs(f"{report.leniency.value:+.2f}")
    ),
    "Traps": lambda report: (
        f"{report.traps.passed} of {report.traps.n}" if report.traps and report.traps.n else NO_VALUE
    ),
    "Seconds": lambda report: format_seconds(report.speed.median if report.speed else None),
    "Left": lambda report: _format_percent(report.side_bias.left.value) if report.side_bias else NO_VALUE,
    "Mostly": lambda report: (
        NO_VALUE if report.side_bias else f"{report.common_label} ({100 * report.common_share:.0f}%)"
    ),
}
COLUMN_MEANINGS = {
    "Labels": "answers that count, those to traps too",
    "Right": "how often the judge's label is the right one, by gold or by what most of the others say",
    "Others": "how often the others are right on the same items",
    "Lenient": "own label less the mean of the others' on the same items, on average",
    "Traps": "passed, of those met; one that was skipped or not decided is not passed",
    "Seconds": "for an answer, the median",
    "Left": "how often the left document wins, of the answers for a side",
    "Mostly": "the label given most often, and how often",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that the page shows, of one moment."""

    main: Progress
    gold: Progress
    queries: list[QueryProgress]
    judges: list[JudgeProgress]
    reasons: list[UnsureReason]
    at_work: int
    invited: bool
    failed: int
    disagreements: int

    @property
    def answering(self) -> int:
        """How many of the judges have answers that count, by the very rows of the table."""
        return sum(judge.done + judge.gold > 0 for judge in self.judges)

    @property
    def gold_waits(self) -> bool:
        """Whether gold is drawn, and not all of it judged."""
        return self.gold.done < self.gold.wanted


@router.get("/p/{project}")
async def progress_page(request: Request, context: Member) -> Response:
    """The first page of a project for owners and viewers; judges go to their work."""
    project = context.project
    if not context.may("viewer"):
        gold_query = "" if context.may("judge") else "?queue=gold"
        return see_other(f"/p/{project.name}/judge{gold_query}")

    def load(connection: Connection) -> Overview:
        members = [
            account for account in load_accounts(connection, project.id) if {"judge", "gold"} & set(account.roles)
        ]
        open_invitations = [
            invitation for invitation in load_invitations(connection, project.id) if invitation.is_open(context.now)
        ]
        main, queries = load_progress_by_query(connection, project.id)
        return Overview(
            main=main,
            gold=load_progress(connection, project.id, "gold"),
            queries=queries,
            judges=load_judge_progress(connection, project),
            reasons=load_unsure_reasons(connection, project.id),
            at_work=count_active_judges(connection, project.id, context.now),
            invited=bool(members or open_invitations),
            failed=sum(task.outcome != "set_aside" for task in load_failed_tasks(connection, project)),
            disagreements=count_disagreements(connection, project),
        )

    overview = await context.read(load)
    return render_owner_page(
        request,
        context,
        "progress.html",
        found=overview,
        now=context.now,
        most=MAX_QUERIES_SHOWN,
        seconds_told=format_seconds,
    )


@router.get("/p/{project}/quality")
async def quality_page(request: Request, context: Viewer) -> Response:
    """Agreement and judges as they are now; sentences where there is too little for numbers."""
    project = context.project
    quality = await context.compute(
        lambda: assess_quality(context.server.store, project, rng=np.random.default_rng(SEED)),
        share=("quality page", project.id),
    )
    failed = await context.read(lambda c: load_failed_tasks(c, project))
    agreement, judges = quality.agreement, quality.judges
    return render_owner_page(
        request,
        context,
        "quality.html",
        labels=quality.labels,
        failed=failed,
        found_notes=quality.notes,
        agreement_note=quality.agreement_note,
        judges_note=quality.judges_note,
        agreement=None if agreement is None else make_agreement_table(agreement),
        agreement_words=[] if agreement is None else describe_agreement(agreement),
        pairs=None if agreement is None else make_pair_table(agreement),
        judges=None if judges is None else make_judge_table(judges),
        flagged=[] if judges is None else list_flagged_judges(judges),
    )


@router.post("/p/{project}/tasks/{task}/set-aside")
async def set_task_aside(context: ProjectOwner, task: PathId) -> Response:
    """Count none of a failed task's answers."""
    failed = await context.read(lambda c: load_failed_tasks(c, context.project))
    if task not in {failed_task.task for failed_task in failed}:
        raise NotFoundError("no-such-task", f"there is no task {task} here that failed its traps")
    await context.write(
        with_audit_record(context, "set task aside", lambda c: set_aside_task(c, task, now=context.now), task=task)
    )
    message = "The task is set aside: its answers do not count, and its items go to other judges."
    return redirect_with_notes(context, f"/p/{context.project.name}/quality", message)


@router.post("/p/{project}/tasks/{task}/count-again")
async def count_task_again(context: ProjectOwner, task: PathId) -> Response:
    """Count the answers of a task that was set aside, where nobody else has taken their places."""
    address = f"/p/{context.project.name}/quality#failed"
    try:
        recount = await context.write(
            with_audit_record(
                context, "count task again", lambda c: reinstate_task(c, context.project, task), task=task
            )
        )
    except ConflictError as error:
        return redirect_with_notes(context, address, error.note)
    leftover = f" {recount.not_again:,} do not: other judges have taken their places." if recount.not_again else ""
    return redirect_with_notes(
        context, address, f"{format_count(recount.again, 'answer')} of the task count again.{leftover}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTable:
    """Rows and columns of text; the first `words` columns are read from the left, the others are numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    words: int = 1
    legend: Sequence[tuple[str, str]] = ()


def make_agreement_table(agreement: Agreement) -> QualityTable:
    """The coefficients of all judges together, each with its interval, or the reason why there is no number."""
    of_pairs = agreement.transitivity is not None
    rows = []
    for name, label in STATISTIC_NAMES.items():
        estimate = agreement.overall[name]
        if (of_pairs and name in LABEL_STATISTICS) or (estimate.value is None and name == "self_consistency"):
            continue
        rows.append([label, *_estimate_cells(estimate)])
    unit = "pair" if of_pairs else "item"
    judges, labels = format_count(len(agreement.judges), "judge"), format_count(agreement.votes, "label")
    size = f"{judges}, {labels} of {format_count(agreement.items, unit)}"
    return QualityTable(
        columns=["Statistic", "Value", f"{agreement.overall['agreement'].level * 100:g}% interval"],
        rows=rows,
        caption=f"All judges together: {size}",
    )


def _estimate_cells(estimate: Estimate) -> list[str]:
    if estimate.value is None:
        return ["undefined", _join_notes(estimate.notes) or NO_VALUE]
    digits = estimate.decimals + 1 if estimate.se else 3
    if estimate.low is None or estimate.high is None:
        return [_with_minus_signs(f"{estimate.value:.{digits}f}"), NO_VALUE]
    return [
        _with_minus_signs(f"{estimate.value:.{digits}f}"),
        _with_minus_signs(f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"),
    ]


def describe_agreement(agreement: Agreement) -> list[str]:
    """What the numbers say, in sentences."""
    of_pairs = agreement.transitivity is not None
    metric = "nominal" if of_pairs else "ordinal"
    raw, alpha = agreement.overall["agreement"], agreement.overall[f"alpha_{metric}"]
    if raw.value is None:
        return [f"Nothing can be said about agreement yet: {_join_notes(raw.notes)}."]
    share_sentence = f"Two judges give the same answer in {100 * raw.value:.0f}% of cases"
    lines = [f"{share_sentence}; {_join_notes(alpha.notes)}."]
    if alpha.value is not None:
        lines = [f"{share_sentence}. {metric.capitalize()} alpha is {_format_estimate(alpha)}: {describe_alpha(alpha)}"]
    consensus = agreement.consensus
    if consensus is not None and consensus.agreement.value is not None:
        lines.append(
            f"The majority of the judges gives the gold label to {100 * consensus.agreement.value:.0f}% of "
            f"{format_count(consensus.n, 'item')}."
        )
    transitivity = agreement.transitivity
    if transitivity is not None and transitivity.majority.value is not None:
        lines.append(
            f"Of {format_count(transitivity.majority.n, 'triple')} of documents, the majority's preferences run in "
            f"a circle in {100 * (1 - transitivity.majority.value):.1f}% (coin flips: 25%)."
        )
    return lines


def make_pair_table(agreement: Agreement) -> QualityTable | None:
    """Judges two by two, those with gold first; None where there are no two."""
    pairs = [*agreement.gold, *agreement.pairs]
    if not pairs:
        return None
    more = len(pairs) - MAX_PAIRS_SHOWN
    return QualityTable(
        columns=["Judge", "Judge", "Items", "Equal", "Cohen's kappa"],
        rows=[
            [pair.a, pair.b, f"{pair.n:,}", _format_percent(pair.agreement.value), _format_estimate(pair.kappa)]
            for pair in pairs[:MAX_PAIRS_SHOWN]
        ],
        caption="Judges two by two" + (f", and {format_count(more, 'more pair')} in the exports" if more > 0 else ""),
        words=2,
    )


def make_judge_table(quality: JudgeQuality) -> QualityTable:
    """A row for each judge, those to look at first; columns in which nothing is known are left out."""
    reports = quality.worst_first[:MAX_JUDGES_SHOWN]
    columns: dict[str, list[str]] = {
        "Judge": [report.judge for report in reports],
        "Flags": [", ".join(flag.kind for flag in report.flags) or NO_VALUE for report in reports],
        "Labels": [f"{report.labels:,}" for report in reports],
        "Right": [_format_percent_interval(report.accuracy) for report in reports],
    }
    columns |= {title: [cell(report) for report in reports] for title, cell in JUDGE_CELLS.items()}
    nonempty = {
        title: cells for title, cells in columns.items() if title in ("Judge", "Labels", "Right") or _has_content(cells)
    }
    more = len(quality) - len(reports)
    return QualityTable(
        columns=list(nonempty),
        rows=list(zip(*nonempty.values(), strict=True)),
        caption=format_count(len(quality), "judge") + (f", the first {MAX_JUDGES_SHOWN} of them" if more > 0 else ""),
        words=2 if "Flags" in nonempty else 1,
        legend=[(title, meaning) for title, meaning in COLUMN_MEANINGS.items() if title in nonempty],
    )


def list_flagged_judges(quality: JudgeQuality) -> list[tuple[str, list[str]]]:
    """Whom to look at and why, with what leaving that judge out would do."""
    return [(report.judge, [*map(str, report.flags), str(report.flags[0].effect)]) for report in quality.flagged]


def format_seconds(seconds: float | None) -> str:
    """A time for one answer, short ones with a decimal.

    Examples:
        >>> format_seconds(0.24), format_seconds(12.4), format_seconds(None)
        ('0.2', '12', '–')
    """
    return NO_VALUE if seconds is None else f"{seconds:.1f}" if seconds < 10 else f"{seconds:,.0f}"


def _join_notes(notes: Sequence[str]) -> str:
    return "; ".join(spell_all(notes, NO_FIELDS))


def _has_content(cells: Sequence[str]) -> bool:
    return any(cell != NO_VALUE for cell in cells)


def _format_percent(share: float | None) -> str:
    return NO_VALUE if share is None else f"{100 * share:.0f}%"


def _format_percent_interval(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return _format_percent(estimate.value)
    return f"{100 * estimate.value:.0f}% ({100 * estimate.low:.0f}% to {100 * estimate.high:.0f}%)"


def _format_estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return _with_minus_signs(f"{estimate.value:.2f}")
    return _with_minus_signs(f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})")


def _with_minus_signs(text: str) -> str:
    return text.replace("-", "−")
