"""`ringtrue demo`."""

from __future__ import annotations

import sys
from shutil import which
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options import Command, output_options
from ringtrue.cli.output import Grid, OutputFormat, emit, estimate_column, plain
from ringtrue.errors import FileError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from ringtrue.results import Estimate
    from ringtrue.simulation import Collection, Crowd
    from ringtrue.tables import Judgments, Run

__all__ = ["command"]

MEASURES = ("nDCG@10", "P(rel=2)@10")
STAMP = "README.txt"
EXPLAINED = """Made by `ringtrue demo`, which overwrites these files when it is called again.

keyword.run, neural.run, hybrid.run   what three simulated systems found: query Q0 doc rank score tag
gold.qrels                            the true labels, 0 to 3: query judge doc label
bronze.qrels                          what a cheap judge said, who is taken in by likeness of words
crowd.csv                             labels of the first ten by 24 people: query, doc, judge, label, time, seconds
traps.csv                             documents among them whose label is plain: query, doc, label
"""


@click.command("demo", cls=Command)
@click.option("--folder", default="ringtrue-demo", show_default=True, help="Where to write the files.")
@click.option("--queries", type=click.IntRange(2, 10_000), default=50, show_default=True, help="How many queries.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Another seed, another world.")
@output_options
def command(folder: str, queries: int, seed: int, form: OutputFormat) -> None:
    """See it work on data made on the spot.

    Simulates a small collection with known truth: three systems, a gold judge who is right and a bronze judge
    who is cheap and wrong. Writes the files and evaluates the systems with either judge's labels.
    """
    from pathlib import Path

    import numpy as np

    from ringtrue.evaluation import evaluate
    from ringtrue.simulation import simulate_collection, simulate_crowd

    rng = np.random.default_rng(seed)
    world = simulate_collection(rng=rng, queries=queries)
    crowd = simulate_crowd(world, rng=rng)
    place = Path(folder)
    files = _write(world, crowd, place)
    means = {
        judge: evaluate(world.runs, labels, MEASURES).means()
        for judge, labels in (("bronze", world.bronze), ("gold", world.gold))
    }
    first = MEASURES[0]
    winners = {judge: max(runs, key=lambda run: runs[run][first].value or 0) for judge, runs in means.items()}
    data = {
        "folder": folder,
        "files": files,
        "winners": winners,
        **{judge: plain(runs) for judge, runs in means.items()},
    }
    if form == "table":
        click.echo(f"Three systems, {queries} queries, two judges. The same results, judged twice:\n")
    emit(form, data=data, grid=_grid(means))
    if form == "table":
        click.echo(_story(winners, place))


def _write(world: Collection, crowd: Crowd, place: Path) -> list[str]:
    from ringtrue.files import write_table

    try:
        if place.is_dir() and any(place.iterdir()) and not (place / STAMP).exists():
            raise FileError(f"{place}: there are other files in this folder; choose a new one with --folder")
        place.mkdir(parents=True, exist_ok=True)
        (place / STAMP).write_text(EXPLAINED)
    except OSError as error:
        raise FileError(
            f"{place}: the folder cannot be made ({error.strerror}); choose another with --folder"
        ) from error
    tables: dict[str, Run | Judgments | pl.DataFrame] = {f"{run.name}.run": run for run in world.runs}
    tables |= {"gold.qrels": world.gold, "bronze.qrels": world.bronze}
    tables |= {"crowd.csv": crowd.labels, "traps.csv": crowd.traps.frame.drop("judge")}
    for name, table in tables.items():
        write_table(table, place / name)
    return list(tables)


def _grid(means: dict[str, dict[str, dict[str, Estimate]]]) -> Grid:
    runs = list(means["gold"])
    headings = [f"{name} {judge}" for name in MEASURES for judge in means]
    columns = [estimate_column([means[judge][run][name] for run in runs]) for name in MEASURES for judge in means]
    rows = [[run, *cells] for run, cells in zip(runs, zip(*columns, strict=True), strict=True)]
    return Grid(columns=["run", *headings], rows=rows, caption="± half of the 95% interval over queries (t)")


def _story(winners: dict[str, str], place: Path) -> str:
    if winners["bronze"] == winners["gold"]:
        verdict = f"Both judges call '{winners['gold']}' the best."
    else:
        verdict = (
            f"The bronze judge calls '{winners['bronze']}' the best; by the true labels it is '{winners['gold']}'.\n"
            f"The interval does not warn you: it knows the queries vary, not that the labels are wrong."
        )
    ringtrue = "ringtrue" if which("ringtrue") == sys.argv[0] else sys.argv[0]
    questions = {
        "How good is each run?": f"evaluate {place}/*.run --judgments {place}/gold.qrels -m nDCG@10,AP,RR",
        "Is one really better?": f"compare {place}/*.run --judgments {place}/gold.qrels",
        "Does the judge change that?": f"stability {place}/*.run --judgments {place}/gold.qrels "
        f"--versus {place}/bronze.qrels",
        "How far does the crowd agree?": f"agree {place}/crowd.csv",
        "Whom should you not trust?": f"judges {place}/crowd.csv --traps {place}/traps.csv",
        "What is the one label?": f"aggregate {place}/crowd.csv -o {place}/crowd.qrels",
        "Is it as good as gold?": f"stability {place}/*.run --judgments {place}/gold.qrels "
        f"--versus {place}/crowd.qrels",
    }
    asked = "".join(f"\n{question}\n  {ringtrue} {words}" for question, words in questions.items())
    return f"\n{verdict}\n\nThe files are in {place}/. Ask them yourself.{asked}"
