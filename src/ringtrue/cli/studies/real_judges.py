"""The study of correction on real judges, for `ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringtrue.cli.output import Grid, progress_bar, signed
from ringtrue.cli.studies.study import Asked, Number, Shown
from ringtrue.errors import FileError, UsageError

if TYPE_CHECKING:
    from ringtrue.simulation.studies.real_judges import Kept
    from ringtrue.simulation.worlds.real_collection import Collection
    from ringtrue.tables import Judgments

__all__ = ["REAL", "real"]

REAL: dict[str, Number] = {"labels": 300, "pair_labels": 150, "queries": 20, "rel": 2, "k": 10}
GOLD = ("human.qrels", "gold.qrels")
FEWEST: dict[str, int] = {"labels": 20, "pair_labels": 20, "queries": 4, "rel": 1, "k": 1}
COLUMNS = ("judge", "measure", "method", "runs", "coverage", "lowest", "bias", "width")
DRAW = 200_000  # how long one draw of everything takes, in the bytes that a progress bar counts by


def real(asked: Asked) -> Shown:
    """Gold drawn again and again from folders with runs, full gold labels and those of judges who err."""
    import numpy as np

    if not asked.data:
        raise UsageError(
            "simulate real needs --data DIR: a folder with runs/, gold labels in human.qrels or gold.qrels, and a "
            ".qrels file for each judge who errs"
        )
    for name, fewest in FEWEST.items():
        if asked.settings[name] < fewest:
            raise UsageError(f"--set {name}={asked.settings[name]}: expected at least {fewest}")
    if twice := [
        folder for folder in asked.data if [Path(one).name for one in asked.data].count(Path(folder).name) > 1
    ]:
        raise UsageError(f"--data {twice[0]}: two folders have this name, by which the table tells them apart")
    rows: list[tuple[str, Kept]] = []
    notes: list[str] = []
    for folder in asked.data:
        collection, judges = _read(Path(folder), notes.append)
        highest = int(collection.gold.frame["label"].max())  # type: ignore[arg-type]
        if highest < asked.settings["rel"]:
            raise UsageError(f"--set rel={asked.settings['rel']}: the highest gold label in {folder} is {highest}")
        with progress_bar(DRAW * asked.replications * len(judges) * _work(collection), what=folder) as advance:
            told = partial(_told, advance)
            for place, (judge, bronze) in enumerate(judges.items()):
                with np.errstate(
                    divide="ignore", invalid="ignore"
                ):  # where gold judged all, nothing is left to compare
                    found = _one_judge(asked, collection, judge, bronze, place, told)
                rows += [(Path(folder).name, one) for one in found]
    data = [{"collection": collection, **_plain(one)} for collection, one in rows]
    return Shown(data={"rows": data, "level": asked.level, "settings": dict(asked.settings)},
                 grids=partial(_grid, rows, asked.level), flat=partial(_flat, data), notes=notes)  # fmt: skip


def _told(advance: Callable[[int], None], draws: int) -> None:
    advance(DRAW * draws)


def _one_judge(
    asked: Asked, collection: Collection, judge: str, bronze: Judgments, place: int, progress: Callable[[int], None]
) -> list[Kept]:
    import numpy as np

    from ringtrue.simulation.studies import real_judges as studies

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
    from ringtrue.simulation.worlds.real_collection import PAIRS

    runs = len(collection.runs)
    return 4 + 2 * min(PAIRS, runs * (runs - 1) // 2)


def _read(folder: Path, note: Callable[[str], None]) -> tuple[Collection, dict[str, Judgments]]:
    from ringtrue.files import read_judgments, read_run
    from ringtrue.simulation.worlds.real_collection import Collection

    if not folder.is_dir():
        raise FileError(f"{folder}: no such folder")
    gold = next((folder / name for name in GOLD if (folder / name).is_file()), None)
    runs = sorted(path for path in (folder / "runs").glob("*") if path.is_file())
    judges = [path for path in sorted(folder.glob("*.qrels*")) if path != gold]
    for found, what in ((gold, f"gold labels ({' or '.join(GOLD)})"), (runs, "runs in a folder runs/"),
                        (judges, "labels of a judge who errs (another .qrels file)")):  # fmt: skip
        if not found:
            raise FileError(f"{folder}: expected {what}, found none")
    collection = Collection(
        runs=[read_run(path, note=note) for path in runs], gold=read_judgments(str(gold), note=note)
    )
    return collection, {path.name.split(".qrels")[0].removeprefix("llm-"): read_judgments(path, note=note)
                        for path in judges}  # fmt: skip


def _plain(one: Kept) -> dict[str, object]:
    """A row for JSON and CSV: what is no number is None."""
    return {name: None if isinstance(value, float) and not isfinite(value) else value
            for name, value in asdict(one).items()}  # fmt: skip


def _grid(rows: Sequence[tuple[str, Kept]], level: float) -> Grid:
    several = len({collection for collection, _ in rows}) > 1
    first = ("collection", *COLUMNS) if several else COLUMNS
    collection, one = rows[0]
    where = "" if several else f" from {collection}"
    return Grid(
        columns=first,
        rows=[[*([collection] if several else []), one.judge, one.measure, one.method, *_numbers(one)]
              for collection, one in rows],
        caption=f"{one.draws:,} draws of gold{where} for each line; intervals for these queries\n"
        f"coverage: how often the {level * 100:g}% interval held the truth, on average over the runs or pairs; lowest: "
        "of one of them\n"
        "width: of the interval, relative to gold alone from as many labels drawn at random from what all runs show,\n"
        "or from as many queries",
        left=len(first) - 5,
    )  # fmt: skip


def _numbers(one: Kept) -> list[str]:
    width = "–" if one.width is None or not isfinite(one.width) else f"{one.width:.2f}"
    bias = signed(one.bias, 3) if isfinite(one.bias) else "–"
    return [str(one.runs), f"{one.coverage:.1%}", f"{one.lowest:.1%}", bias, width]


def _flat(data: Sequence[dict[str, object]]) -> Grid:
    columns = list(data[0])
    return Grid(columns=columns, rows=[["" if row[name] is None else str(row[name]) for name in columns]
                                       for row in data])  # fmt: skip
