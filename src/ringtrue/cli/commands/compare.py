"""`ringtrue compare`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from ringtrue.cli.options.common import Command, is_given, output_options
from ringtrue.cli.options.gold import Golding, gold_options
from ringtrue.cli.options.runs import Question, evaluation_options, gains_option, level_option, runs_and_judgments
from ringtrue.cli.output import Grid, OutputFormat, emit, plain, progress_bar, tell
from ringtrue.errors import UsageError, did_you_mean
from ringtrue.formatting.phrases import first_few

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.evaluation.significance import Adjust, Family, Test
    from ringtrue.stats.results import Comparison, Comparisons
    from ringtrue.tables import Scores

__all__ = ["command"]

USUAL = "nDCG@10"
TESTS = ("t", "permutation", "bootstrap", "sign", "wilcoxon", "welch", "independent")


@click.command("compare", cls=Command)
@runs_and_judgments
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE",
              help=f"What to compare by; may be repeated, or a list. {USUAL} if not said.")  # fmt: skip
@click.option("--baseline", "baselines", multiple=True, metavar="RUN",
              help="Compare with this run only, by name or by file; may be repeated.")  # fmt: skip
@click.option("--test", type=click.Choice(TESTS),
              default="t", show_default=True,
              help="How p is found; welch is for runs over different queries, independent the published test for gold "
              "labels from elsewhere.")  # fmt: skip
@click.option("--mid-p", is_flag=True, help="A less cautious sign test.")
@click.option("--adjust", type=click.Choice(["holm", "bh", "tukey", "none"]), default="holm", show_default=True,
              help="What to do about many comparisons: bh guards the share of false findings, "
              "the others against any.")  # fmt: skip
@click.option("--family", type=click.Choice(["measure", "all"]), default="measure", show_default=True,
              help="Adjust for the comparisons of one measure, or of all measures together.")  # fmt: skip
@click.option("--resamples", type=int, default=10_000, show_default=True,
              help="How often to draw in permutation, bootstrap and tukey.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same answer.")
@click.option("--per-query", is_flag=True, help="Show the difference for every query, the largest first.")
@click.option("--by", metavar="COLUMN", help="Compare apart for each value of a column of the topics or judgments.")
@click.option(
    "--topics", metavar="FILE", help="A table with a row for each query: for --by, and to show what was asked."
)
@click.option("--layout", type=click.Choice(["pairs", "runs"]),
              help="A row for each pair (usual up to 10), or for each run, with those it beats.")  # fmt: skip
@gains_option
@level_option
@gold_options
@evaluation_options
@output_options
def command(
    question: Question,
    golding: Golding,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    test: Test | Literal["independent"],
    mid_p: bool,
    adjust: Adjust,
    family: Family,
    resamples: int,
    seed: int,
    per_query: bool,
    by: str | None,
    topics: str | None,
    layout: str | None,
    form: OutputFormat,
) -> None:
    """Is A better than B?

    Compares every pair of runs query by query, or each with the baselines: the mean difference a − b with an
    interval, p for the pair alone, and p adjusted for the family of comparisons. With --gold, what the difference
    would be with a perfect judge.
    """
    import numpy as np

    from ringtrue.cli.options.files import named_column
    from ringtrue.cli.tables import comparisons as tables
    from ringtrue.cli.tables import queries
    from ringtrue.evaluation.significance import compare, compare_by
    from ringtrue.files import read_topics

    if golding.gold is not None:
        if by is not None or per_query:
            raise UsageError("--by and --per-query do not go with --gold: gold labels are too few for parts of it")
        _refuse_idle()
        _corrected(question, golding, measures, baselines, form, test=test, adjust=adjust, family=family,
                   layout=layout, seed=seed)  # fmt: skip
        return
    if test == "independent":
        raise UsageError("--test independent compares scores corrected by gold labels: give them as --gold FILE")
    if by is not None and per_query and form != "json":
        raise UsageError("--by and --per-query are two tables: ask for one of them, or for --json")
    if by is not None and adjust == "tukey":
        raise UsageError("Tukey's family is the runs over all queries: with --by, adjust by holm or bh")
    if layout is not None and (by is not None or per_query):
        raise UsageError(f"--layout is for the whole: {'--by' if by else '--per-query'} has a layout of its own")
    if test == "welch":  # each run over its own queries
        if question.missing == "zero" and is_given("missing"):
            raise UsageError("--test welch takes each run over its own queries: --missing zero does not go with it")
        question = replace(question, missing="skip")
    baselines = _listed(baselines, question.runs)
    question = _with_baseline_files(question, baselines)
    wanted = question.measures(measures or [USUAL])
    if not wanted:
        raise UsageError(f"-m names no measure; write it like -m {USUAL}")
    asked: pl.DataFrame | None = None if topics is None else read_topics(topics)
    labels = question.labels()
    scores = question.scores(question.each_run(), labels, wanted)
    how: dict[str, Any] = {
        "baselines": _names(baselines, question.runs, list(scores.cube().runs)),
        "test": test, "mid_p": mid_p, "adjust": adjust, "family": family, "resamples": resamples,
        "level": question.level,
    }  # fmt: skip
    with progress_bar(_work(scores, how), what="resampling") as advance:
        found = compare(scores, **how, rng=np.random.default_rng(seed), progress=advance)
    notes = question.notes
    notes += [*scores.notes, *found.notes]
    if asked is not None:
        notes += _without_topic(scores, asked, str(topics))
    data = {
        "runs": plain(scores.means(level=question.level)),
        "comparisons": [_plain(one, scores, asked, per_query=per_query) for one in found],
        "test": found.test,
        "adjust": adjust,
        "family": found.family,
        "level": question.level,
        "seed": seed,
        "missing": {run: list(queries) for run, queries in scores.absent.items()},
    }
    bars = form == "table"
    grid: Callable[[], Grid | Sequence[Grid]] = partial(
        tables.answer, found, scores, asked, baselines=how["baselines"], layout=layout, bars=bars
    )
    flat = partial(tables.flat, found)
    if by is not None:
        table = labels.frame if asked is None else asked
        groups = compare_by(
            scores, table, named_column(table, by, topics or question.judgments), **how, rng=np.random.default_rng(seed)
        )
        notes += dict.fromkeys(note for part in groups.values() for note in part.notes if note not in notes)
        data["groups"] = {value: _group(part, scores) for value, part in groups.items()}
        grid, flat = partial(tables.by_group, groups, by), partial(tables.flat_by_group, groups, by)
    elif per_query:
        grid, flat = (
            partial(queries.by_query, found, scores, asked, bars=bars),
            partial(queries.flat_by_query, found, scores, asked),
        )
    tell(notes)
    emit(form, data=data | {"notes": notes}, grid=grid, flat=flat)


def _corrected(
    question: Question, golding: Golding, measures: tuple[str, ...], baselines: tuple[str, ...], form: OutputFormat,
    *, test: Test | Literal["independent"], adjust: Adjust, family: Family, layout: str | None, seed: int,
) -> None:  # fmt: skip
    """What the differences would be if gold had judged everything."""
    from ringtrue.cli.tables import correction as tables
    from ringtrue.gold.correction import compare_corrected

    if test == "independent":
        golding = replace(golding, method=golding.method or "confusion")
    golding.require(question)
    if test not in ("t", "independent"):
        raise UsageError(f"--test {test} takes labels as they are: with --gold, leave it out, or say independent")
    question = _with_baseline_files(question, baselines := _listed(baselines, question.runs))
    gold, labels, runs = golding.read(question), question.labels(), list(question.each_run())
    wanted = question.measures(measures or golding.usual(gold, [USUAL])[:1])
    names = [run.name for run in runs]
    how = golding.settings()
    found = question.explained(
        lambda: compare_corrected(
            runs, labels, gold, wanted, baselines=_names(baselines, question.runs, names), adjust=adjust,
            family=family, independent=test == "independent", level=question.level, **how,
        )
    )  # fmt: skip
    notes = [*question.notes, *found.notes]
    tell(notes)
    data = {
        "comparisons": [one.as_dict() for one in found],
        "test": found.test,
        "adjust": adjust,
        "family": found.family,
        "level": question.level,
        "population": how["population"],
        "seed": seed,
        "notes": notes,
    }
    emit(
        form,
        data=data,
        grid=partial(tables.comparisons, found, layout, how["population"]),
        flat=partial(tables.flat_comparisons, found),
    )


def _refuse_idle() -> None:
    """Refuse options that would change nothing about a correction by gold labels."""
    idle = {"mid_p": "no sign test is made", "resamples": "nothing is drawn anew",
            "topics": "no single query is shown"}  # fmt: skip
    for name, why in idle.items():
        if is_given(name):
            raise UsageError(f"--{name.replace('_', '-')} says nothing with --gold, where {why}: leave it out")


def _listed(baselines: tuple[str, ...], paths: tuple[str, ...]) -> tuple[str, ...]:
    """Baselines may also come as a list with commas, unless something is really called so."""
    from ringtrue.cli.options.files import run_names

    known = {*run_names(paths), *paths}
    whole = [[given] if given in known or Path(given).exists() else given.split(",") for given in baselines]
    return tuple(dict.fromkeys(word.strip() for words in whole for word in words))


def _with_baseline_files(question: Question, baselines: tuple[str, ...]) -> Question:
    """The question with the baselines that are files of their own read as runs too."""
    from ringtrue.cli.options.files import run_names

    names = run_names(question.runs)
    known = {Path(path).resolve() for path in question.runs}
    files = {Path(given).resolve(): given for given in baselines if given not in names and Path(given).is_file()}
    wider = replace(question, runs=(*question.runs, *(given for path, given in files.items() if path not in known)))
    if question.name == "file":  # told before anything is read
        _names(baselines, wider.runs, run_names(wider.runs))
    if len(wider.runs) < 2:
        raise UsageError(f"a comparison needs two runs or more, found only {wider.runs[0]}")
    return wider


def _names(baselines: tuple[str, ...], paths: tuple[str, ...], names: list[str]) -> list[str]:
    """What the baselines are called, which may be given by name or by file."""
    by_path = {Path(path).resolve(): name for path, name in zip(paths, names, strict=True)}
    for given in baselines:
        if given not in names and Path(given).resolve() not in by_path:
            shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
            near = did_you_mean(given, names) or f"; the runs are {shown}, and there is no such file"
            raise UsageError(f"no run is called '{given}', the baseline{near}")
    return [given if given in names else by_path[Path(given).resolve()] for given in baselines]


def _work(scores: Scores, how: dict[str, Any]) -> int:
    """How many pairs × resamples there are to do."""
    cube = scores.cube()
    others = len(cube.runs) - len(how["baselines"])
    pairs = others * len(how["baselines"]) if how["baselines"] else others * (others - 1) // 2
    drawing = (how["test"] in ("permutation", "bootstrap")) + (how["adjust"] == "tukey")
    return int(drawing * pairs * len(cube.measures) * how["resamples"])


def _plain(one: Comparison, scores: Scores, asked: pl.DataFrame | None, *, per_query: bool) -> dict[str, object]:
    """A comparison for JSON."""
    shown = one.as_dict()
    if per_query:
        from ringtrue.cli.tables.queries import questions
        from ringtrue.evaluation.significance import differences

        texts = questions(asked)
        shown["queries"] = [
            row | ({"asked": texts[row["query"]]} if row["query"] in texts else {})
            for row in differences(scores, one.a, one.b, one.measure).to_dicts()
        ]
    return shown


def _without_topic(scores: Scores, asked: pl.DataFrame, path: str) -> list[str]:
    queries = scores.frame["query"].unique(maintain_order=True)
    lacking = queries.filter(~queries.is_in(asked["query"].to_list())).to_list()
    return [f"{path} has no row for {len(lacking)} of {len(queries)} queries: {first_few(lacking)}"] if lacking else []


def _group(part: Comparisons, scores: Scores) -> dict[str, object]:
    comparisons = [_plain(one, scores, None, per_query=False) for one in part]
    return {"comparisons": comparisons, "family": part.family, "notes": list(part.notes)}
