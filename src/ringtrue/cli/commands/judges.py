"""`ringtrue judges`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.confusion_out import confusion_out_option, require_documents, write_together
from ringtrue.cli.options.labels import Labelling, labelling_options
from ringtrue.cli.output import Grid, OutputFormat, emit, progress_bar, signed, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.judges.quality import JudgeQuality, JudgeReport

__all__ = ["command"]

SHOWN = 20  # judges in the table
TOLD = 10  # flagged judges in sentences
WIDTH = 100
MEANT = "a flag is a reason to look, not to drop anybody"
WORK = 40  # units of the progress bar for a label: a million labels take about two seconds


@click.command("judges", cls=Command)
@labelling_options
@click.option("--traps", metavar="FILE", help="Items with a known label that were mixed in, to see who pays attention.")
@click.option("--accept", metavar="M/N", default="2/5", show_default=True,
              help="A batch of work is accepted when this share of its traps was passed.")  # fmt: skip
@confusion_out_option
@output_options
def command(
    labelling: Labelling, traps: str | None, accept: str, confusion_out: str | None, form: OutputFormat
) -> None:
    """How good is each judge?

    Accuracy against gold, or against what most of the others say; leniency, traps, speed, change over time; and
    whom to look at, with the reason and with what leaving that judge out would do. Nobody is dropped. Several files of
    LABELS count together.
    """
    from ringtrue.judges.quality import judge_quality

    if [*labelling.labels, labelling.gold, traps].count("-") > 1:
        raise UsageError("standard input (-) can be read only once; put one of the two into a file")
    rule = _rule(accept)
    votes, gold = labelling.votes(), labelling.gold_votes()
    require_documents(confusion_out, votes)
    known = labelling.table(traps) if traps is not None else None
    with progress_bar(votes.size * WORK, what="judges") as advance:
        quality: JudgeQuality = labelling.explained(
            lambda: judge_quality(
                votes, gold=gold, traps=known, accept=rule, repeats=labelling.repeats, level=labelling.level,
                progress=lambda done: advance(done * WORK),
            )
        )  # fmt: skip
    notes = labelling.told(quality.notes)
    write_together(confusion_out, [one.confusion for one in quality], notes)
    tell(notes)
    emit(form, data=quality.as_dict() | {"notes": notes}, grid=partial(_grid, quality), flat=partial(_flat, quality))


def _rule(said: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", said)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--accept expects M/N, at least M of N traps, such as 4/5; found '{said}'")
    return int(found[1]), int(found[2])


def _grid(quality: JudgeQuality) -> Grid:
    shown = quality.worst_first[:SHOWN]
    columns: dict[str, list[str]] = {
        "judge": [one.judge for one in shown],
        "flags": [_kinds(one) for one in shown],
        "labels": [f"{one.labels:,}" for one in shown],
        "accuracy": [_number(one.accuracy.value) for one in shown],
        f"{quality.level * 100:g}% CI": [_range(one.accuracy.low, one.accuracy.high) for one in shown],
    }
    if len({one.against for one in quality}) > 1:
        columns["against"] = [one.against or "–" for one in shown]
    columns |= {title: [cell(one) for one in shown] for title, cell in CELLS.items()}
    columns = {title: cells for title, cells in columns.items() if title in ALWAYS or set(cells) - {"–", ""}}
    return Grid(
        columns=list(columns),
        rows=list(zip(*columns.values(), strict=True)),
        caption="\n".join(_caption(quality, columns)),
        left=2 if "flags" in columns else 1,
    )


def _seconds(median: float) -> str:
    return f"{median:,.0f}" if median >= 100 else f"{median:.3g}"


def _estimate(name: str, digits: int = 2, *, sign: bool = False) -> Callable[[JudgeReport], str]:
    def cell(one: JudgeReport) -> str:
        estimate = getattr(one, name)
        if estimate is None or estimate.value is None:
            return "–"
        return signed(estimate.value, digits) if sign else f"{estimate.value:.{digits}f}"

    return cell


CELLS: dict[str, Callable[[JudgeReport], str]] = {
    "others": lambda one: _number(one.others_accuracy),
    "lenient": _estimate("leniency", sign=True),
    "again": _estimate("self_consistency"),
    "traps": lambda one: f"{one.traps.passed}/{one.traps.n}" if one.traps and one.traps.n else "–",
    "accepted": lambda one: f"{one.traps.accepted}/{one.traps.batches}" if one.traps and one.traps.n else "–",
    "seconds": lambda one: _seconds(one.speed.median) if one.speed else "–",
    "left": lambda one: _number(one.side_bias.left.value) if one.side_bias else "–",
    "drift": lambda one: signed(one.drift.change.value or 0, 2) if one.drift else "–",
    "mostly": lambda one: "–" if one.side_bias else f"{one.common_label} ({100 * one.common_share:.0f}%)",
}
ALWAYS = {"judge", "labels", "accuracy"}
MEANINGS = {
    "others": "others: the accuracy of the others on the same items",
    "lenient": "lenient: own label − mean of the others' on the same items, on average",
    "again": "again: share of equal pairs among labels that the judge gave the same item",
    "traps": "traps: passed of those met; accepted: batches of work with enough of them",
    "seconds": "seconds: for a label, the median",
    "left": "left: how often the left document wins, of the verdicts for a side",
    "drift": "drift: accuracy of the second half of the labels − that of the first, in order of time",
    "mostly": "mostly: the label given most often, and how often",
}


def _kinds(one: JudgeReport) -> str:
    """The first two flags, and how many more there are: the reasons follow below."""
    kinds = [flag.kind for flag in one.flags]
    return ", ".join(kinds[:2]) + (f" +{len(kinds) - 2}" if len(kinds) > 2 else "")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _range(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.2f}–{high:.2f}"


def _caption(quality: JudgeQuality, columns: dict[str, list[str]]) -> list[str]:
    """What the columns mean, who is flagged and why, and the answer in a sentence."""
    more = len(quality) - SHOWN
    lines = [f"{more:,} more judges, none of them flagged" if more > 0 else ""]
    if more > 0 and len(quality.flagged) > SHOWN:
        lines = [f"{more:,} more judges, {len(quality.flagged) - SHOWN:,} of them flagged"]
    if quality.against is not None:
        against = {"gold": "gold", "consensus": "what most of the others say"}[quality.against]
        either = "gold or, with no gold item met, what most others say"
        lines.append(f"accuracy: share of labels that are right, against {either if 'against' in columns else against}")
    lines += [meaning for title, meaning in MEANINGS.items() if title in columns]
    return [*filter(None, lines), *_reasons(quality), "", fill(_verdict(quality), WIDTH)]


def _reasons(quality: JudgeQuality) -> list[str]:
    lines = []
    for one in quality.flagged[:TOLD]:
        lines += ["", one.judge]
        told = [*map(str, one.flags), str(one.flags[0].effect)]
        lines += [fill(words, WIDTH, initial_indent="  ", subsequent_indent="    ") for words in told]
    more = len(quality.flagged) - TOLD
    return lines + (
        ["", f"… and {more:,} more flagged judges; --json and --format csv have them all"] if more > 0 else []
    )


def _verdict(quality: JudgeQuality) -> str:
    """Whom should I look at?"""
    asked = "Whom should I look at?"
    if not quality.flagged:
        nobody = f"none of the {len(quality):,} judges is" if len(quality) > 1 else "the one judge here is not"
        return f"{asked} Nobody stands out: {nobody} flagged."
    most = max(quality.flagged, key=lambda one: one.flags[0].effect.changed + one.flags[0].effect.lost)
    weight = most.flags[0].effect.changed + most.flags[0].effect.lost
    if len(quality.flagged) == 1:
        depends = f"{weight:,} majority labels would" if weight > 1 else "1 majority label would"
        first = (
            f"At {most.judge}: without this judge {depends if weight else 'no majority label would'} change or be lost."
        )
        return f"{asked} {first} 1 of {len(quality):,} judges is flagged; {MEANT}."
    kinds = Counter(flag.kind for one in quality.flagged for flag in one.flags)
    told = ", ".join(f"{kind} {n:,}" for kind, n in kinds.most_common())
    first = f"First at {most.judge}, on whom most depends: {weight:,} majority labels would change or be lost."
    if not weight:
        first = f"First at {most.judge}; no majority label depends on any flagged judge alone."
    return f"{asked} {first} {len(quality.flagged):,} of {len(quality):,} judges are flagged ({told}); {MEANT}."


def _flat(quality: JudgeQuality) -> Grid:
    frame = quality.frame
    rows: Sequence[Sequence[str]] = [["" if cell is None else str(cell) for cell in row] for row in frame.iter_rows()]
    return Grid(columns=frame.columns, rows=rows)
