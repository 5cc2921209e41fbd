"""The study of correction on real judges, for `ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from ringtrue.cli.errors import OptionError
from ringtrue.cli.output import progress_bar
from ringtrue.cli.studies import Number, StudyOutput, StudyParameters
from ringtrue.errors import FileError
from ringtrue.formatting.grid import Grid, exact_grid, format_signed
from ringtrue.messages import Note

if TYPE_CHECKING:
    from ringtrue.simulation.studies.forecast_accuracy import ForecastAccuracy
    from ringtrue.simulation.studies.real_judges import JudgedCollection, MethodCoverage
    from ringtrue.tables import Judgments

REAL_JUDGE_SETTINGS: dict[str, Number] = {
    "labels": 300,
    "pair_labels": 150,
    "queries": 20,
    "extension": 60,
    "rel": 2,
    "k": 10,
}
GOLD_FILES = ("human.qrels", "gold.qrels")
MINIMUM_SETTINGS: dict[str, int] = {"labels": 20, "pair_labels": 20, "queries": 4, "extension": 5, "rel": 1, "k": 1}
OTHER_QUERY_SHARES = (1 / 2, 3 / 2)  # of the queries: fewer and more that gold judges
FORECAST_SHARES = (1 / 3, 2 / 3, 1)  # of the labels, for which intervals are forecast
COLUMNS = ("judge", "measure", "method", "runs", "coverage", "lowest", "bias", "width")
WORK_PER_DRAW = 200_000  # how long one draw of everything takes, in the bytes that a progress bar counts by


def study_real_judges(parameters: StudyParameters) -> StudyOutput:
    """Gold drawn again and again from folders with runs, full gold labels and those of judges who err."""
    import numpy as np

    if not parameters.folders:
        raise OptionError(
            "needs-parameter",
            "simulate real needs --data DIR: a folder with runs/, gold labels in human.qrels or gold.qrels, and a "
            ".qrels file for each judge who errs",
            parameter="data",
        )
    for name, minimum in MINIMUM_SETTINGS.items():
        if parameters.settings[name] < minimum:
            raise OptionError(
                "bad-value", f"--set {name}={parameters.settings[name]}: expected at least {minimum}", parameter="set"
            )
    if duplicates := [
        folder
        for folder in parameters.folders
        if [Path(other_folder).name for other_folder in parameters.folders].count(Path(folder).name) > 1
    ]:
        raise OptionError(
            "duplicate-name",
            f"--data {duplicates[0]}: two folders have this name, by which the table tells them apart",
            parameter="data",
        )
    rows: list[tuple[str, MethodCoverage]] = []
    forecasts: list[tuple[str, ForecastAccuracy]] = []
    notes: list[Note] = []
    for folder in parameters.folders:
        collection, judges = _read_collection(Path(folder), notes.append)
        highest = int(collection.gold.frame["label"].max())  # type: ignore[arg-type]
        if highest < parameters.settings["rel"]:
            raise OptionError(
                "bad-value",
                f"--set rel={parameters.settings['rel']}: the highest gold label in {folder} is {highest}",
                parameter="set",
            )
        with progress_bar(
            WORK_PER_DRAW * parameters.replications * len(judges) * _count_draws(collection), description=folder
        ) as advance:
            report_draws = partial(_advance_by_draws, advance)
            for index, (judge, bronze) in enumerate(judges.items()):
                with np.errstate(
                    divide="ignore", invalid="ignore"
                ):  # where gold judged all, nothing is left to compare
                    coverages, accuracies = _study_one_judge(parameters, collection, judge, bronze, index, report_draws)
                rows += [(Path(folder).name, coverage) for coverage in coverages]
                forecasts += [(Path(folder).name, accuracy) for accuracy in accuracies]
    payload_rows = [{"collection": collection, **_coverage_as_dict(coverage)} for collection, coverage in rows]
    return StudyOutput(
        payload={
            "rows": payload_rows,
            "forecast": [
                {"collection": collection, **asdict(accuracy), "ratio": accuracy.ratio}
                for collection, accuracy in forecasts
            ],
            "level": parameters.level,
            "settings": dict(parameters.settings),
        },
        grids=lambda: [_real_judges_grid(rows, parameters.level), _forecast_grid(forecasts)],
        csv_grid=lambda: exact_grid(list(payload_rows[0]), (row.values() for row in payload_rows)),
        notes=notes,
    )


def _advance_by_draws(advance: Callable[[int], None], draws: int) -> None:
    advance(WORK_PER_DRAW * draws)


def _study_one_judge(
    parameters: StudyParameters,
    collection: JudgedCollection,
    judge: str,
    bronze: Judgments,
    index: int,
    progress: Callable[[int], None],
) -> tuple[list[MethodCoverage], list[ForecastAccuracy]]:
    import numpy as np

    from ringtrue.simulation.studies.forecast_accuracy import compare_forecasts, compare_query_forecasts
    from ringtrue.simulation.studies.gold_in_practice import study_lost_labels, study_new_family
    from ringtrue.simulation.studies.real_judges import RealJudgeStudy

    k = parameters.int_setting("k")
    precision, dcg, ndcg = f"P(rel={parameters.int_setting('rel')})@{k}", f"DCG@{k}", f"nDCG@{k}"
    labels, pair_labels = parameters.int_setting("labels"), parameters.int_setting("pair_labels")
    study = RealJudgeStudy(
        collection=collection,
        judge=judge,
        bronze=bronze,
        draws=parameters.replications,
        level=parameters.level,
        progress=progress,
    )
    # Each judge has draws of its own, whichever others there are.
    rngs = iter(np.random.default_rng([parameters.seed, index]).spawn(9))
    coverages: list[MethodCoverage] = []
    for measure in (precision, dcg):
        coverages += study.means(measure, budget=labels, rng=next(rngs))
    for measure in (precision, dcg):
        coverages += study.differences(measure, budget=pair_labels, rng=next(rngs))
    coverages += study.whole_queries(ndcg, queries=parameters.int_setting("queries"), rng=next(rngs))
    coverages += study.published(precision, budget=labels, rng=next(rngs))
    practice = np.random.default_rng([parameters.seed, index, 1]).spawn(6)
    for share, query_rng in zip(OTHER_QUERY_SHARES, practice[4:], strict=True):
        queries = round(parameters.int_setting("queries") * share)
        if 2 < queries < collection.gold.frame["query"].n_unique():
            coverages += study.whole_queries(ndcg, queries=queries, rng=query_rng)
    for measure, family_rng, lost_rng in zip((precision, dcg), practice[:2], practice[2:4], strict=True):
        coverages += study_new_family(
            study, measure, budget=labels, extension=parameters.int_setting("extension"), rng=family_rng
        )
        coverages += study_lost_labels(study, measure, budget=labels, rng=lost_rng)
    budgets = [round(labels * share) for share in FORECAST_SHARES]
    accuracies = [
        accuracy
        for measure in (precision, dcg)
        for accuracy in compare_forecasts(study, measure, budgets=budgets, rng=next(rngs))
    ]
    queries = parameters.int_setting("queries")
    accuracies += compare_query_forecasts(study, ndcg, queries=queries, rng=next(rngs))
    return coverages, accuracies


def _count_draws(collection: JudgedCollection) -> int:
    """How many draws there are for each replication: of every pair, and of the rest."""
    from ringtrue.simulation.studies.real_judges import PAIRS

    n_runs = len(collection.runs)
    return 10 + 2 * min(PAIRS, n_runs * (n_runs - 1) // 2)


def _read_collection(folder: Path, note: Callable[[Note], None]) -> tuple[JudgedCollection, dict[str, Judgments]]:
    from ringtrue.files import read_judgments, read_run
    from ringtrue.simulation.studies.real_judges import JudgedCollection

    if not folder.is_dir():
        raise FileError("no-such-folder", "no such folder", parameter="data", file=str(folder))
    gold = next((folder / name for name in GOLD_FILES if (folder / name).is_file()), None)
    runs = sorted(path for path in (folder / "runs").glob("*") if path.is_file())
    judges = [path for path in sorted(folder.glob("*.qrels*")) if path != gold]
    for files, expected in (
        (gold, f"gold labels ({' or '.join(GOLD_FILES)})"),
        (runs, "runs in a folder runs/"),
        (judges, "labels of a judge who errs (another .qrels file)"),
    ):
        if not files:
            raise FileError("incomplete-folder", f"expected {expected}, found none", parameter="data", file=str(folder))
    collection = JudgedCollection(
        runs=[read_run(path, note=note) for path in runs], gold=read_judgments(str(gold), note=note)
    )
    return collection, {
        path.name.split(".qrels")[0].removeprefix("llm-"): read_judgments(path, note=note) for path in judges
    }


def _coverage_as_dict(coverage: MethodCoverage) -> dict[str, object]:
    """A row for JSON and CSV: what is no number is None."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in asdict(coverage).items()
    }


def _real_judges_grid(rows: Sequence[tuple[str, MethodCoverage]], level: float) -> Grid:
    has_several = len({collection for collection, _ in rows}) > 1
    columns = ("collection", *COLUMNS) if has_several else COLUMNS
    collection, coverage = rows[0]
    source_text = "" if has_several else f" from {collection}"
    return Grid(
        columns=columns,
        rows=[
            [
                *([collection] if has_several else []),
                coverage.judge,
                coverage.measure,
                coverage.method,
                *_coverage_cells(coverage),
            ]
            for collection, coverage in rows
        ],
        caption=f"{coverage.draws:,} draws of gold{source_text} for each line; intervals for these queries\n"
        f"coverage: how often the {level * 100:g}% interval held the truth, on average over the runs or pairs; lowest: "
        "of one of them\n"
        "width: of the interval, relative to gold alone from as many labels drawn at random from what all runs show,\n"
        "or from as many queries",
        left=len(columns) - 5,
    )


def _forecast_grid(rows: Sequence[tuple[str, ForecastAccuracy]]) -> Grid:
    """What intervals were, against what was forecast of them."""
    columns = ["collection", "judge", "measure", "population", "labels", "forecast", "achieved", "ratio"]
    return Grid(
        columns=columns,
        rows=[
            [
                collection,
                accuracy.judge,
                accuracy.measure,
                accuracy.population,
                str(accuracy.labels) if accuracy.unit == "document" else f"{accuracy.labels} queries",
                f"{accuracy.forecast:.3f}",
                f"{accuracy.achieved:.3f}",
                "–" if accuracy.ratio is None else f"{accuracy.ratio:.2f}",
            ]
            for collection, accuracy in rows
        ],
        caption="half-widths, on average over the runs: as `sample` forecasts them, told gold's highest label, and as\n"
        f"they came ({rows[0][1].draws:,} draws of gold for each line); ratio: achieved/forecast",
        left=4,
    )


def _coverage_cells(coverage: MethodCoverage) -> list[str]:
    width = "–" if coverage.width is None or not isfinite(coverage.width) else f"{coverage.width:.2f}"
    bias = format_signed(coverage.bias, 3) if isfinite(coverage.bias) else "–"
    return [str(coverage.runs), f"{coverage.coverage:.1%}", f"{coverage.lowest:.1%}", bias, width]
