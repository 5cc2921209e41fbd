"""The study of correction on real judges, for `ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringtrue.cli.output import Grid, progress_bar, signed
from ringtrue.cli.studying import Asked, Number, Shown
from ringtrue.errors import FileError, UsageError

if TYPE_CHECKING:
    from ringtrue.simulation.real_judges import Collection, Kept
    from ringtrue.tables import Judgments

__all__ = ["REAL", "real"]

REAL: dict[str, Number] = {"labels": 300, "pair_labels": 150, "queries": 20, "rel": 2, "k": 10}
GOLD = ("human.qrels", "gold.qrels")
COLUMNS = ("collection", "judge", "measure", "method", "runs", "draws", "coverage", "lowest", "bias", "width")
DRAW = 200_000  # how long one draw of everything takes, in the bytes that a progress bar counts by


def real(asked: Asked) -> Shown:
    """Gold drawn again and again from folders with runs, full gold labels and those of judges who err."""
    if not asked.data:
        raise UsageError(
            "simulate real needs --data DIR: a folder with runs/, gold labels in human.qrels or gold.qrels, and a "
            ".qrels file for each judge who errs"
        )
    rows: list[tuple[str, Kept]] = []
    notes: list[str] = []
    for folder in asked.data:
        collection, judges = _read(Path(folder), notes.append)
        with progress_bar(DRAW * asked.replications * len(judges) * _work(collection), what=folder) as advance:
            told = partial(_told, advance)
            for place, (judge, bronze) in enumerate(judges.items()):
                found = _one_judge(asked, collection, judge, bronze, place, told)
                rows += [(Path(folder).name, one) for one in found]
    data = [{"collection": collection, **asdict(one)} for collection, one in rows]
    return Shown(data={"rows": data, "level": asked.level, "settings": dict(asked.settings)},
                 grids=partial(_grid, rows, asked.level), flat=partial(_flat, data), notes=notes)  # fmt: skip


def _told(advance: Callable[[int], None], draws: int) -> None:
    advance(DRAW * draws)


def _one_judge(
    asked: Asked, collection: Collection, judge: str, bronze: Judgments, place: int, progress: Callable[[int], None]
) -> list[Kept]:
    import numpy as np

    from ringtrue.simulation import real_judges as studies

    k = asked.whole("k")
    precision, dcg, ndcg = f"P(rel={asked.whole('rel')})@{k}", f"DCG@{k}", f"nDCG@{k}"
    how: dict[str, Any] = {"draws": asked.replications, "level": asked.level, "progress": progress}
    given = (collection, judge, bronze)
    # Each judge has draws of its own, whichever others there are.
    rngs = iter(np.random.default_rng([asked.seed, place]).spawn(6))
    found: list[Kept] = []
    for measure in (precision, dcg):
        found += studies.study_of_means(*given, measure, budget=asked.whole("labels"), rng=next(rngs), **how)
    for measure in (precision, dcg):
        found += studies.study_of_differences(*given, measure, budget=asked.whole("pair_labels"), rng=next(rngs), **how)
    found += studies.study_of_queries(*given, ndcg, queries=asked.whole("queries"), rng=next(rngs), **how)
    found += studies.study_of_published(*given, precision, budget=asked.whole("labels"), rng=next(rngs), **how)
    return found


def _work(collection: Collection) -> int:
    """How many draws there are for each replication: of every pair, and of the rest."""
    from ringtrue.simulation.real_judges import PAIRS

    runs = len(collection.runs)
    return 4 + 2 * min(PAIRS, runs * (runs - 1) // 2)


def _read(folder: Path, note: Callable[[str], None]) -> tuple[Collection, dict[str, Judgments]]:
    from ringtrue.files import read_judgments, read_run
    from ringtrue.simulation.real_judges import Collection

    gold = next((folder / name for name in GOLD if (folder / name).is_file()), None)
    runs = sorted(path for path in (folder / "runs").glob("*") if path.is_file())
    judges = [path for path in sorted(folder.glob("*.qrels*")) if path != gold]
    for found, what in ((gold, f"gold labels ({' or '.join(GOLD)})"), (runs, "runs in a folder runs/"),
                        (judges, "labels of a judge who errs (another .qrels file)")):  # fmt: skip
        if not found:
            raise FileError(f"{folder}: expected {what}, found none; see `ringtrue simulate`")
    collection = Collection(
        runs=[read_run(path, note=note) for path in runs], gold=read_judgments(str(gold), note=note)
    )
    return collection, {path.name.split(".qrels")[0].removeprefix("llm-"): read_judgments(path, note=note)
                        for path in judges}  # fmt: skip


def _grid(rows: Sequence[tuple[str, Kept]], level: float) -> Grid:
    return Grid(
        columns=COLUMNS,
        rows=[[collection, one.judge, one.measure, one.method, *_numbers(one)] for collection, one in rows],
        caption=f"coverage: how often the {level * 100:g}% interval for these queries held the truth, on average over "
        "the runs or pairs, and for the lowest\n"
        "width: of the interval, relative to gold alone from as many random labels (means, queries); for a − b, "
        "relative to the difference\nestimator from as many labels drawn at random from what all runs show",
        left=4,
    )  # fmt: skip


def _numbers(one: Kept) -> list[str]:
    width = "–" if one.width is None else f"{one.width:.2f}"
    shares = (f"{one.coverage:.1%}", f"{one.lowest:.1%}")
    return [str(one.runs), f"{one.draws:,}", *shares, signed(one.bias, 3), width]


def _flat(data: Sequence[dict[str, object]]) -> Grid:
    columns = list(data[0])
    return Grid(columns=columns, rows=[["" if row[name] is None else str(row[name]) for name in columns]
                                       for row in data])  # fmt: skip
