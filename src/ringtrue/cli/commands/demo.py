"""`ringtrue demo`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from shutil import which
from textwrap import fill
from typing import TYPE_CHECKING

import click

from ringtrue.cli.options.common import Command, option, output_options, seed_option_with
from ringtrue.cli.output import OutputFormat, emit, means_as_dict, print_notes
from ringtrue.cli.shell_words import ShellSpelling
from ringtrue.errors import FileError, UsageError
from ringtrue.formatting.grid import Grid
from ringtrue.messages import Note, notes_as_dict
from ringtrue.stats.results import format_estimates

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from ringtrue.gold.correction.bronze_worth import BronzeWorth
    from ringtrue.gold.sampling import GoldDraw
    from ringtrue.simulation import Collection, Crowd, Voters
    from ringtrue.stats.results import Estimate
    from ringtrue.tables import Judgments, Preferences, Run

MEASURE = "P(rel=2)@10"  # a sum over documents, which gold labels of single documents can correct
MEASURES = ("nDCG@10", MEASURE)
GOLD_BUDGET = 200
VOTER_COUNT = 12
LINE_WIDTH = 79
README_NAME = "README.txt"
README_TEXT = """Made by `ringtrue demo`, which overwrites these files when it is called again.

keyword.run, neural.run, hybrid.run   what three simulated systems found: query Q0 doc rank score tag
gold.qrels                            the true labels, 0 to 3: query judge doc label
bronze.qrels                          what a cheap judge said: a model's error rates, too kind where words overlap
crowd.csv                             labels of the first ten by 24 people: query, doc, judge, label, time, seconds
traps.csv                             documents among them whose label is plain: query, doc, label
sample.csv                            200 documents that `ringtrue sample` drew, with their true labels: query, doc,
                                      prob, stratum, design, drawn, label
sample.frame.csv                      all documents that could be drawn: query, doc, prob, drawn
preferences.csv                       which of two documents 12 people prefer: query, left, right, judge, winner, trap
traps.pref                            pairs among them with a plain answer: query doc doc winner
topics.csv, documents.jsonl           what queries and documents say, for people who judge them (`ringtrue serve`)
report.html                           all of it on one page (`ringtrue report`)
"""


@click.command("demo", cls=Command)
@option("--folder", "Where to write the files.", default="ringtrue-demo")
@option("--queries", "How many queries.", type=click.IntRange(2, 10_000), default=100)
@seed_option_with(1)
@option(
    "--report/--no-report", "Write the page too; it takes some seconds.", to="reports", default=True, show_default=False
)
@output_options
def command(folder: str, queries: int, seed: int, reports: bool, form: OutputFormat) -> None:
    """See it work on data made on the spot.

    Simulates a small collection with known truth: three systems, a crowd of 24 people, a gold judge who is right and a
    cheap bronze judge who errs as often as a real model (UMBRELA with GPT-4 on TREC DL 2019), too kindly where words
    overlap. Writes the files, evaluates the systems with either judge's labels, corrects the bronze judge by a few gold
    labels, and shows all of it on one page.
    """
    from pathlib import Path

    import numpy as np

    from ringtrue.evaluation.evaluate import evaluate
    from ringtrue.gold.correction import correct
    from ringtrue.gold.sampling import sample
    from ringtrue.simulation import simulate_collection, simulate_crowd, simulate_texts, simulate_voters

    rng = np.random.default_rng(seed)
    world = simulate_collection(rng=rng, queries=queries)
    crowd = simulate_crowd(world, rng=rng)
    # Drawn apart, so that the rest of the world stays as it is.
    gold_sample = sample(
        world.runs, world.bronze, MEASURE, budget=GOLD_BUDGET, rng=np.random.default_rng([seed, GOLD_BUDGET])
    )
    gold = gold_sample.frame.join(
        world.gold.frame.select("query", "doc", "label"), on=["query", "doc"], maintain_order="left"
    )
    voters = simulate_voters(world, rng=np.random.default_rng([seed, VOTER_COUNT]), judges=VOTER_COUNT)
    correction = correct(world.runs, world.bronze, gold, MEASURE)
    directory = Path(folder)
    texts = simulate_texts(world, rng=np.random.default_rng([seed, queries]))
    files = _write_files(world, crowd, voters, gold_sample, gold, texts, directory)
    means = {
        judge: evaluate(world.runs, labels, MEASURES).means()
        for judge, labels in (("bronze", world.bronze), ("gold", world.gold))
    }
    report_path, notes = _write_report(world, crowd, voters, gold, directory, seed) if reports else (None, [])
    answers = {
        "bronze": means["bronze"],
        "gold alone": correction.gold_only,
        "corrected": correction.corrected,
        "gold": means["gold"],
    }
    estimates = {name: {run: by_measure[MEASURE] for run, by_measure in runs.items()} for name, runs in answers.items()}
    winners = {
        name: max(runs, key=lambda run: runs[run].value or 0)
        for name, runs in estimates.items()
        if name != "gold alone"
    }
    payload = {
        "folder": folder,
        "files": files,
        "report": report_path,
        "winners": winners,
        **{judge: means_as_dict(runs) for judge, runs in means.items()},
        "corrected": means_as_dict(correction.corrected),
        "gold_only": means_as_dict(correction.gold_only),
        **notes_as_dict(notes),
    }
    if form == "table":
        click.echo(f"Three systems, {queries} queries; labels by a cheap judge, and {gold.height} by a trusted one:\n")
    emit(form, payload=payload, grid=_estimates_grid(estimates))
    if form == "table":
        click.echo(
            _describe_outcome(winners, correction.bronze_worth.get(MEASURE), directory, gold.height, report_path)
        )
    print_notes(notes)


def _write_files(
    world: Collection,
    crowd: Crowd,
    voters: Voters,
    gold_sample: GoldDraw,
    gold: pl.DataFrame,
    texts: tuple[pl.DataFrame, pl.DataFrame],
    directory: Path,
) -> list[str]:
    from ringtrue.files import write_table
    from ringtrue.files.sampling_frames import frame_path

    try:
        if directory.is_dir() and any(directory.iterdir()) and not (directory / README_NAME).exists():
            raise FileError(
                "folder-in-use",
                "there are other files in this folder; choose a new one with --folder",
                parameter="folder",
                file=str(directory),
            )
        directory.mkdir(parents=True, exist_ok=True)
        (directory / README_NAME).write_text(README_TEXT)
    except OSError as error:
        raise FileError(
            "unwritable-folder",
            f"the folder cannot be made ({error.strerror}); choose another with --folder",
            parameter="folder",
            file=str(directory),
        ) from error
    tables: dict[str, Run | Judgments | Preferences | pl.DataFrame] = {f"{run.name}.run": run for run in world.runs}
    tables |= {"gold.qrels": world.gold, "bronze.qrels": world.bronze}
    tables |= {"crowd.csv": crowd.labels, "traps.csv": crowd.traps.frame.drop("judge")}
    assert gold_sample.sampling_frame is not None
    tables |= {"sample.csv": gold, frame_path("sample.csv"): gold_sample.sampling_frame}
    tables |= {"preferences.csv": voters.preferences, "traps.pref": voters.traps}
    tables |= {"topics.csv": texts[0], "documents.jsonl": texts[1]}
    for name, table in tables.items():
        write_table(table, directory / name)
    return list(tables)


def _write_report(
    world: Collection, crowd: Crowd, voters: Voters, gold: pl.DataFrame, directory: Path, seed: int
) -> tuple[str | None, list[Note]]:
    """Everything on one page, where Matplotlib is there to draw it."""
    from ringtrue.cli.output import step_bar
    from ringtrue.evaluation.measures import parse_all
    from ringtrue.report.build import SECTIONS, build_report
    from ringtrue.report.inputs import ReportInputs
    from ringtrue.tables import Judgments

    file_by_role = {
        "judgments": "bronze.qrels",
        "gold": "sample.csv",
        "truth": "gold.qrels",
        "labels": "crowd.csv",
        "traps": "traps.csv",
        "preferences": "preferences.csv",
    }
    inputs = ReportInputs(
        runs=tuple(world.runs),
        judgments=world.bronze,
        measures=tuple(parse_all([MEASURE, "DCG@10"])),
        gold=Judgments.of(gold),
        truth=world.gold,
        labels=crowd.labels,
        traps=crowd.traps,
        preferences=voters.preferences,
        rel=2,
        seed=seed,
        paths={"runs": [f"{directory}/{run.name}.run" for run in world.runs]}
        | {role: [f"{directory}/{file}"] for role, file in file_by_role.items()},
    )
    path = directory / "report.html"
    with step_bar(len(SECTIONS) + 1, description="the report") as step:
        report = build_report(inputs, progress=step)
        step("drawing")
        try:
            report.save(path, ShellSpelling())
        except UsageError as error:  # no Matplotlib
            return None, [error.note]
    return str(path), []


def _estimates_grid(estimates: Mapping[str, Mapping[str, Estimate]]) -> Grid:
    runs = list(estimates["gold"])
    cells = [format_estimates([by_run[run] for run in runs]) for by_run in estimates.values()]
    rows = [[run, *row] for run, row in zip(runs, zip(*cells, strict=True), strict=True)]
    headings = {"bronze": "bronze says", "gold": "the truth"}
    columns = ["run", *(headings.get(name, name) for name in estimates)]
    return Grid(columns=columns, rows=rows, caption=f"{MEASURE}, ± half of the 95% interval over queries like these")


def _describe_outcome(
    winners: Mapping[str, str],
    worth: BronzeWorth | None,
    directory: Path,
    n_labels: int,
    report_path: str | None,
) -> str:
    if winners["bronze"] == winners["gold"]:
        verdict = f"Both judges call '{winners['gold']}' the best."
    else:
        verdict = (
            f"The bronze judge calls '{winners['bronze']}' the best; by the true labels it is '{winners['gold']}'.\n"
            f"The interval does not warn you: it knows the queries vary, not that the labels\nare wrong. "
            f"Corrected by {n_labels} gold labels, bronze calls '{winners['corrected']}' the best."
        )
    if worth is not None:
        sentence = str(worth)
        verdict += "\n" + fill(f"{sentence[0].upper()}{sentence[1:]}.", width=LINE_WIDTH)
    program = "ringtrue" if which("ringtrue") == sys.argv[0] else sys.argv[0]
    arguments_by_question = {
        "How good is each run?": f"evaluate {directory}/*.run --judgments {directory}/gold.qrels -m nDCG@10,AP,RR",
        "Is one really better?": f"compare {directory}/*.run --judgments {directory}/gold.qrels",
        "What would a perfect judge say?": f"evaluate {directory}/*.run --judgments {directory}/bronze.qrels "
        f"--gold {directory}/sample.csv -m '{MEASURE},DCG@10'",
        "Does the judge change that?": f"stability {directory}/*.run --judgments {directory}/gold.qrels "
        f"--versus {directory}/bronze.qrels",
        "How far does the crowd agree?": f"agree {directory}/crowd.csv",
        "Whom should you not trust?": f"judges {directory}/crowd.csv --traps {directory}/traps.csv",
        "What is the one label?": f"aggregate {directory}/crowd.csv -o {directory}/crowd.qrels",
        "Is it as good as gold?": f"stability {directory}/*.run --judgments {directory}/gold.qrels "
        f"--versus {directory}/crowd.qrels",
        "Where could labels of your own come from?": f"serve --db {directory}/judgments.db",
        "Which documents are preferred?": f"rate {directory}/preferences.csv --by-judge --gold {directory}/gold.qrels",
    }
    questions_text = "".join(
        f"\n{question}\n  {program} {arguments}" for question, arguments in arguments_by_question.items()
    )
    report_text = "" if report_path is None else f"\n\n{report_path} shows all of it on one page: open it in a browser."
    return f"\n{verdict}{report_text}\n\nThe files are in {directory}/. Ask them yourself.{questions_text}"
