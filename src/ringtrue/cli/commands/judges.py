"""`ringtrue judges`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options.common import Command, confusion_out_option, option, output_options, require_one_stdin
from ringtrue.cli.options.labels import LabelInputs, label_options, require_documents, write_pooled_confusion
from ringtrue.cli.output import OutputFormat, emit, progress_bar
from ringtrue.formatting.grid import Grid, exact_grid, format_interval, format_number, format_signed

if TYPE_CHECKING:
    from ringtrue.judges.quality import JudgeQuality, JudgeReport

MAX_JUDGES_SHOWN = 20  # judges in the table
MAX_JUDGES_EXPLAINED = 10  # flagged judges in sentences
WIDTH = 100
FLAG_MEANING = "a flag is a reason to look, not to drop anybody"
WORK_PER_LABEL = 40  # units of the progress bar for a label: a million labels take about two seconds
REQUIRED_COLUMNS = {"judge", "labels", "accuracy"}
COLUMN_MEANINGS = {
    "others": "others: the accuracy of the others on the same items",
    "lenient": "lenient: own label − mean of the others' on the same items, on average",
    "again": "again: share of equal pairs among labels that the judge gave the same item",
    "traps": "traps: passed of those met; accepted: batches of work with enough of them",
    "seconds": "seconds: for a label, the median",
    "left": "left: how often the left document wins, of the verdicts for a side",
    "drift": "drift: accuracy of the second half of the labels − that of the first, in order of time",
    "mostly": "mostly: the label given most often, and how often",
}


@click.command("judges", cls=Command)
@label_options
@option("--traps FILE", "Items with a known answer, to see who pays attention.")
@option("--accept M/N", "A batch of work is accepted when this share of its traps was passed.", default="2/5")
@confusion_out_option
@output_options
def command(
    label_inputs: LabelInputs, traps: str | None, accept: str, confusion_out: str | None, form: OutputFormat
) -> None:
    """How good is each judge?

    Accuracy against gold, or against what most of the others say; leniency, traps, speed, change over time; and
    whom to look at, with the reason and with what leaving that judge out would do. Nobody is dropped. Several files of
    LABELS count together.
    """
    from ringtrue.judges.quality import judge_quality

    require_one_stdin([*label_inputs.labels, label_inputs.gold, traps])
    acceptance = _parse_acceptance(accept)
    votes, gold = label_inputs.read_votes(), label_inputs.read_gold_votes()
    require_documents(confusion_out, votes)
    trap_labels = label_inputs.read_reference_votes(traps) if traps is not None else None
    with progress_bar(votes.size * WORK_PER_LABEL, description="judges") as advance:
        quality: JudgeQuality = label_inputs.explain_errors(
            lambda: judge_quality(
                votes,
                gold=gold,
                traps=trap_labels,
                accept=acceptance,
                repeats=label_inputs.repeats,
                level=label_inputs.level,
                progress=lambda done: advance(done * WORK_PER_LABEL),
            )
        )
    notes = label_inputs.merge_notes(quality.notes)
    write_pooled_confusion(confusion_out, [judge.confusion for judge in quality], notes)
    emit(
        form,
        notes=notes,
        payload=quality.as_dict(),
        grid=partial(_judge_quality_grid, quality),
        csv_grid=lambda: exact_grid(quality.frame.columns, quality.frame.iter_rows()),
    )


def _parse_acceptance(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise OptionError(
            "bad-value", f"--accept expects M/N, at least M of N traps, such as 4/5; found '{text}'", parameter="accept"
        )
    return int(match[1]), int(match[2])


def _judge_quality_grid(quality: JudgeQuality) -> Grid:
    judges = quality.worst_first[:MAX_JUDGES_SHOWN]
    columns: dict[str, list[str]] = {
        "judge": [judge.judge for judge in judges],
        "flags": [_flag_kinds(judge) for judge in judges],
        "labels": [f"{judge.labels:,}" for judge in judges],
        "accuracy": [format_number(judge.accuracy.value, 2) for judge in judges],
        f"{quality.level * 100:g}% CI": [
            format_interval(judge.accuracy.low, judge.accuracy.high, 2, between="–") for judge in judges
        ],
    }
    if len({judge.against for judge in quality}) > 1:
        columns["against"] = [judge.against or "–" for judge in judges]
    columns |= {title: [cell(judge) for judge in judges] for title, cell in OPTIONAL_CELLS.items()}
    columns = {title: cells for title, cells in columns.items() if title in REQUIRED_COLUMNS or set(cells) - {"–", ""}}
    return Grid(
        columns=list(columns),
        rows=list(zip(*columns.values(), strict=True)),
        caption="\n".join(_caption_lines(quality, columns)),
        left=2 if "flags" in columns else 1,
    )


def _format_seconds(median: float) -> str:
    return f"{median:,.0f}" if median >= 100 else f"{median:.3g}"


def _estimate_cell(name: str, digits: int = 2, *, sign: bool = False) -> Callable[[JudgeReport], str]:
    def cell(judge: JudgeReport) -> str:
        estimate = getattr(judge, name)
        if estimate is None or estimate.value is None:
            return "–"
        return format_signed(estimate.value, digits) if sign else f"{estimate.value:.{digits}f}"

    return cell


OPTIONAL_CELLS: dict[str, Callable[[JudgeReport], str]] = {
    "others": lambda judge: format_number(judge.others_accuracy, 2),
    "lenient": _estimate_cell("leniency", sign=True),
    "again": _estimate_cell("self_consistency"),
    "traps": lambda judge: f"{judge.traps.passed}/{judge.traps.n}" if judge.traps and judge.traps.n else "–",
    "accepted": lambda judge: f"{judge.traps.accepted}/{judge.traps.batches}" if judge.traps and judge.traps.n else "–",
    "seconds": lambda judge: _format_seconds(judge.speed.median) if judge.speed else "–",
    "left": lambda judge: format_number(judge.side_bias.left.value, 2) if judge.side_bias else "–",
    "drift": lambda judge: format_signed(judge.drift.change.value or 0, 2) if judge.drift else "–",
    "mostly": lambda judge: "–" if judge.side_bias else f"{judge.common_label} ({100 * judge.common_share:.0f}%)",
}


def _flag_kinds(judge: JudgeReport) -> str:
    """The first two flags, and how many more there are: the reasons follow below."""
    kinds = [flag.kind for flag in judge.flags]
    return ", ".join(kinds[:2]) + (f" +{len(kinds) - 2}" if len(kinds) > 2 else "")


def _caption_lines(quality: JudgeQuality, columns: dict[str, list[str]]) -> list[str]:
    """What the columns mean, who is flagged and why, and the answer in a sentence."""
    n_more = len(quality) - MAX_JUDGES_SHOWN
    lines = [f"{n_more:,} more judges, none of them flagged" if n_more > 0 else ""]
    if n_more > 0 and len(quality.flagged) > MAX_JUDGES_SHOWN:
        lines = [f"{n_more:,} more judges, {len(quality.flagged) - MAX_JUDGES_SHOWN:,} of them flagged"]
    if quality.against is not None:
        against = {"gold": "gold", "consensus": "what most of the others say"}[quality.against]
        either = "gold or, with no gold item met, what most others say"
        lines.append(f"accuracy: share of labels that are right, against {either if 'against' in columns else against}")
    lines += [meaning for title, meaning in COLUMN_MEANINGS.items() if title in columns]
    return [*filter(None, lines), *_flag_reasons(quality), "", fill(_flag_verdict(quality), WIDTH)]


def _flag_reasons(quality: JudgeQuality) -> list[str]:
    lines = []
    for judge in quality.flagged[:MAX_JUDGES_EXPLAINED]:
        lines += ["", judge.judge]
        sentences = [*map(str, judge.flags), str(judge.flags[0].effect)]
        lines += [fill(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ") for sentence in sentences]
    n_more = len(quality.flagged) - MAX_JUDGES_EXPLAINED
    return lines + (
        ["", f"… and {n_more:,} more flagged judges; --json and --format csv have them all"] if n_more > 0 else []
    )


def _flag_verdict(quality: JudgeQuality) -> str:
    """Whom should I look at?"""
    question = "Whom should I look at?"
    if not quality.flagged:
        nobody = f"none of the {len(quality):,} judges is" if len(quality) > 1 else "the one judge here is not"
        return f"{question} Nobody stands out: {nobody} flagged."
    most_influential = max(
        quality.flagged, key=lambda judge: judge.flags[0].effect.changed + judge.flags[0].effect.lost
    )
    n_affected = most_influential.flags[0].effect.changed + most_influential.flags[0].effect.lost
    if len(quality.flagged) == 1:
        depends = f"{n_affected:,} majority labels would" if n_affected > 1 else "1 majority label would"
        first_sentence = (
            f"At {most_influential.judge}: without this judge "
            f"{depends if n_affected else 'no majority label would'} change or be lost."
        )
        return f"{question} {first_sentence} 1 of {len(quality):,} judges is flagged; {FLAG_MEANING}."
    kinds = Counter(flag.kind for judge in quality.flagged for flag in judge.flags)
    kinds_text = ", ".join(f"{kind} {n:,}" for kind, n in kinds.most_common())
    first_sentence = (
        f"First at {most_influential.judge}, on whom most depends: {n_affected:,} majority "
        "labels would change or be lost."
    )
    if not n_affected:
        first_sentence = f"First at {most_influential.judge}; no majority label depends on any flagged judge alone."
    return (
        f"{question} {first_sentence} {len(quality.flagged):,} of {len(quality):,} judges are flagged "
        f"({kinds_text}); {FLAG_MEANING}."
    )
