"""Studies of correction by documents and by whole queries, for `ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

from ringtrue.cli.output import Grid, progress_bar
from ringtrue.cli.studies.study import Asked, Number, Shown
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.simulation.studies.coverage import HeldTruth
    from ringtrue.simulation.studies.decision_errors import FoundDifference

__all__ = ["COMPARING", "LIKE_THESE", "comparing", "like_these"]

LIKE_THESE: dict[str, Number] = {"worlds": 0}
COMPARING: dict[str, Number] = {"effect": 0.08}
WIDTH = 100
PARTS = {
    "documents": "gold labels of 60, 150 or 300 documents of 50 or 100 queries, four judges",
    "few labels": "gold labels of 10, 20 or 40 documents of 25, 50 or 100 queries, good and bad systems and judges",
    "whole queries": "20 or 40 of 50 or 100 queries judged whole by gold, four judges",
}
WORSE = "held against all queries there could be, intervals for these alone fail, as they must"


def like_these(asked: Asked) -> Shown:
    """How often intervals for these queries, and for queries like these, hold the truth."""
    from ringtrue.simulation.studies import correction_coverage

    rng, few = asked.rng, asked.whole("worlds")
    worlds = correction_coverage.FEW_LABELS
    if few < 0:
        raise UsageError(f"--set worlds={few}: how many worlds with few labels to look at, or 0 for all of them")
    if few:
        worlds = tuple(worlds[place] for place in sorted(rng.permutation(len(worlds))[:few]))
    each = 150 * len(correction_coverage.JUDGES)
    with progress_bar(
        (2 * each + sum(one.queries for one in worlds)) * asked.replications, what="simulating"
    ) as advance:
        common = {"replications": asked.replications, "level": asked.level, "progress": advance}
        found = {
            "documents": correction_coverage.coverage_by_documents(rng, **common),  # type: ignore[arg-type]
            "few labels": correction_coverage.coverage_by_label(rng, worlds, **common),  # type: ignore[arg-type]
            "whole queries": correction_coverage.coverage_by_queries(rng, **common),  # type: ignore[arg-type]
        }
    rows = [{"part": part, **one.as_dict()} for part, some in found.items() for one in some]
    return Shown(
        data={"replications": asked.replications, "level": asked.level, "rows": rows},
        grids=lambda: [_held(part, some, asked) for part, some in found.items()],
        flat=partial(_flat, rows),
        notes=[WORSE],
    )


def _held(part: str, some: Sequence[HeldTruth], asked: Asked) -> Grid:
    kinds: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for one in some:
        if one.coverage is not None and one.width is not None:
            names = (one.measure, one.method, one.population, one.about)
            kinds.setdefault(names, []).append((one.coverage, one.width))
    rows = []
    for kind, those in kinds.items():
        held, widths = zip(*those, strict=True)
        rows.append([*kind, *(f"{x:.3f}" for x in (sum(held) / len(held), min(held), max(held))),
                     f"{sum(widths) / len(widths):.3f}"])  # fmt: skip
    settings = len({(one.setting, one.queries, one.gold) for one in some})
    told = f"{settings:,} settings, {asked.replications:,} experiments in each: {PARTS[part]}"
    columns = [part, "method", "about", "held against", "mean", "lowest", "highest", "width"]
    return Grid(columns=columns, rows=rows, left=4, caption=fill(told, WIDTH, subsequent_indent="  "))


def comparing(asked: Asked) -> Shown:
    """How often tests between two systems find a difference, where there is none and where there is one."""
    from ringtrue.simulation.studies.decision_errors import COMPARED, decisions

    effect = float(asked.settings["effect"])
    total = 2 * asked.replications * sum(one.world.queries for one in COMPARED)
    with progress_bar(total, what="simulating") as advance:
        found = decisions(
            asked.rng, effect=effect, replications=asked.replications, level=asked.level, progress=advance
        )
    rows = [one.as_dict() for one in found]
    data = {"replications": asked.replications, "level": asked.level, "effect": effect, "rows": rows}
    return Shown(data=data, grids=partial(_decided, found, asked), flat=partial(_flat, rows))


def _decided(found: Sequence[FoundDifference], asked: Asked) -> Grid:
    rows = [
        [one.setting, one.test, one.measure, str(one.gold), f"{100 * one.type_one:.1f}%", f"{100 * one.power:.0f}%",
         "" if one.promised else "no"]
        for one in found
    ]  # fmt: skip
    asked_for = f"{100 * (1 - asked.level):g}% of those without a difference"
    lines = [
        f"{asked.replications:,} experiments each, {found[0].queries} queries; a test may find one in {asked_for}",
        f"power: one system is better by {asked.settings['effect']:g} in P@10",
        "gold: labels of documents, queries judged whole, or labels of each kind for the judge's rates",
        "promised: 'no' where the test is not made for such a judge",
    ]
    caption = "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines)
    columns = ["the judge", "test", "measure", "gold", "false alarms", "power", "promised"]
    return Grid(columns=columns, rows=rows, left=3, caption=caption)


def _flat(rows: Sequence[dict[str, object]]) -> Grid:
    return Grid(columns=list(rows[0]), rows=[[str(value) for value in row.values()] for row in rows])
