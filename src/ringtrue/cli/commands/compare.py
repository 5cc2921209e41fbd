"""`ringtrue compare`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.options.gold import GoldOptions, gold_options
from ringtrue.cli.options.runs import RunInputs, evaluation_options, runs_and_judgments
from ringtrue.cli.output import OutputFormat, emit, means_as_dict, progress_bar
from ringtrue.errors import did_you_mean
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import join_first_few
from ringtrue.messages import Note, notes_as_dict

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.evaluation.significance import Adjust, Family
    from ringtrue.stats.results import Comparison, Comparisons
    from ringtrue.tables import Scores

DEFAULT_MEASURE = "nDCG@10"
TESTS = ("t", "permutation", "bootstrap", "sign", "wilcoxon", "welch", "independent")


@click.command("compare", cls=common.Command)
@runs_and_judgments
@common.measure_option([DEFAULT_MEASURE])
@option(
    "--baseline RUN", "Compare with this run only, by name or by file; may be repeated.", to="baselines", multiple=True
)
@option(
    "--test",
    "Significance test; welch is for runs over different queries, independent the published test for gold "
    "labels from elsewhere.",
    choices=TESTS,
    default="t",
)
@option("--mid-p", "A less cautious sign test.", is_flag=True)
@option(
    "--adjust",
    "Multiple-testing correction: bh controls the false discovery rate, holm and tukey the family-wise error rate.",
    choices=["holm", "bh", "tukey", "none"],
    default="holm",
)
@option(
    "--family",
    "Adjust for the comparisons of one measure, or of all measures together.",
    choices=["measure", "all"],
    default="measure",
)
@common.resamples_option(10_000, lowest=1)
@common.seed_option
@common.per_query_option
@common.by_option
@common.topics_option
@option(
    "--layout", "A row for each pair (usual up to 10), or for each run, with those it beats.", choices=["pairs", "runs"]
)
@common.gains_option
@common.level_option
@gold_options
@evaluation_options
@common.output_options
def command(
    run_inputs: RunInputs,
    gold_opts: GoldOptions,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    seed: int,
    per_query: bool,
    by: str | None,
    topics: str | None,
    layout: str | None,
    form: OutputFormat,
    **settings: Any,
) -> None:
    """Is A better than B?

    Compares every pair of runs query by query, or each with the baselines: the mean difference a − b with an
    interval, p for the pair alone, and p adjusted for the family of comparisons. With --gold, what the difference
    would be with a perfect judge.
    """
    import numpy as np

    from ringtrue.cli.options.files import find_column
    from ringtrue.cli.tables import comparisons as tables
    from ringtrue.evaluation.significance import compare, compare_by
    from ringtrue.files import read_topics

    if gold_opts.gold is not None:
        if by is not None or per_query:
            raise OptionError(
                "conflicting-parameters",
                "--by and --per-query do not go with --gold: gold labels are too few for parts of it",
                parameter="per_query" if by is None else "by",
            )
        _refuse_options_unused_with_gold()
        _compare_corrected(run_inputs, gold_opts, measures, baselines, form, layout=layout, seed=seed, **settings)
        return
    test, adjust = settings["test"], settings["adjust"]
    if test == "independent":
        raise OptionError(
            "needs-parameter",
            "--test independent compares scores corrected by gold labels: give them as --gold FILE",
            parameter="gold",
        )
    if by is not None and per_query and form != "json":
        raise OptionError(
            "conflicting-parameters",
            "--by and --per-query are two tables: ask for one of them, or for --json",
            parameter="per_query",
        )
    if by is not None and adjust == "tukey":
        raise OptionError(
            "conflicting-parameters",
            "Tukey's family is the runs over all queries: with --by, adjust by holm or bh",
            parameter="adjust",
        )
    if layout is not None and (by is not None or per_query):
        raise OptionError(
            "conflicting-parameters",
            f"--layout is for the whole: {'--by' if by else '--per-query'} has a layout of its own",
            parameter="layout",
        )
    if test == "welch":  # each run over its own queries
        if run_inputs.missing == "zero" and common.is_given("missing"):
            raise OptionError(
                "conflicting-parameters",
                "--test welch takes each run over its own queries: --missing zero does not go with it",
                parameter="missing",
            )
        run_inputs = replace(run_inputs, missing="skip")
    baselines = _split_baselines(baselines, run_inputs.runs)
    run_inputs = _with_baseline_files(run_inputs, baselines)
    parsed_measures = run_inputs.parse_measures(measures or [DEFAULT_MEASURE])
    if not parsed_measures:
        raise OptionError("no-measure", f"-m names no measure; write it like -m {DEFAULT_MEASURE}", parameter="measure")
    topic_table: pl.DataFrame | None = None if topics is None else read_topics(topics)
    labels = run_inputs.read_labels()
    scores = run_inputs.evaluate(run_inputs.read_runs(), labels, parsed_measures)
    settings |= {
        "baselines": _resolve_baselines(baselines, run_inputs.runs, list(scores.cube().runs)),
        "level": run_inputs.level,
    }
    with progress_bar(_count_resamples(scores, settings), description="resampling") as advance:
        comparisons = compare(scores, **settings, rng=np.random.default_rng(seed), progress=advance)
    notes = run_inputs.notes
    notes += [*scores.notes, *comparisons.notes]
    if topic_table is not None:
        notes += _note_missing_topics(scores, topic_table, str(topics))
    payload = {
        "runs": means_as_dict(scores.means(level=run_inputs.level)),
        "comparisons": [
            _comparison_as_dict(comparison, scores, topic_table, per_query=per_query) for comparison in comparisons
        ],
        "test": comparisons.test,
        "adjust": adjust,
        "family": comparisons.family,
        "level": run_inputs.level,
        "seed": seed,
        "missing": {run: list(query_ids) for run, query_ids in scores.absent.items()},
    }
    bars = form == "table"
    grid: Callable[[], Grid | Sequence[Grid]] = partial(
        tables.run_comparison_grids,
        comparisons,
        scores,
        topic_table,
        baselines=settings["baselines"],
        layout=layout,
        bars=bars,
    )
    csv_grid = partial(tables.comparisons_csv, comparisons)
    if by is not None:
        table = labels.frame if topic_table is None else topic_table
        groups = compare_by(
            scores,
            table,
            find_column(table, by, topics or run_inputs.judgments),
            **settings,
            rng=np.random.default_rng(seed),
        )
        notes += dict.fromkeys(note for group in groups.values() for note in group.notes if note not in notes)
        payload["groups"] = {group_value: _group_as_dict(group, scores) for group_value, group in groups.items()}
        grid, csv_grid = partial(tables.group_grid, groups, by), partial(tables.group_csv, groups, by)
    elif per_query:
        grid, csv_grid = (
            partial(tables.query_grids, comparisons, scores, topic_table, bars=bars),
            partial(tables.query_csv, comparisons, scores, topic_table),
        )
    emit(form, notes=notes, payload=payload, grid=grid, csv_grid=csv_grid)


def _compare_corrected(
    run_inputs: RunInputs,
    gold_opts: GoldOptions,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    form: OutputFormat,
    *,
    test: str,
    adjust: Adjust,
    family: Family,
    layout: str | None,
    seed: int,
    **_: object,
) -> None:
    """What the differences would be if gold had judged everything."""
    from ringtrue.cli.tables import correction as tables
    from ringtrue.gold.correction import compare_corrected

    if test == "independent":
        gold_opts = replace(gold_opts, method=gold_opts.method or "confusion")
    gold_opts.refuse_incompatible_settings(run_inputs)
    if test not in ("t", "independent"):
        raise OptionError(
            "conflicting-parameters",
            f"--test {test} takes labels as they are: with --gold, leave it out, or say independent",
            parameter="test",
        )
    run_inputs = _with_baseline_files(run_inputs, baselines := _split_baselines(baselines, run_inputs.runs))
    gold, labels, runs = gold_opts.read_gold(run_inputs), run_inputs.read_labels(), list(run_inputs.read_runs())
    parsed_measures = run_inputs.parse_measures(measures or gold_opts.default_measures(gold, [DEFAULT_MEASURE])[:1])
    run_names = [run.name for run in runs]
    settings = gold_opts.correction_settings(gold, seed)
    comparisons = run_inputs.explain_errors(
        lambda: compare_corrected(
            runs,
            labels,
            gold,
            parsed_measures,
            baselines=_resolve_baselines(baselines, run_inputs.runs, run_names),
            adjust=adjust,
            family=family,
            independent=test == "independent",
            level=run_inputs.level,
            **settings,
        )
    )
    notes = [*run_inputs.notes, *comparisons.notes]
    payload = {
        "comparisons": [comparison.as_dict() for comparison in comparisons],
        "test": comparisons.test,
        "adjust": adjust,
        "family": comparisons.family,
        "level": run_inputs.level,
        "population": settings["population"],
        "seed": seed,
    }
    emit(
        form,
        notes=notes,
        payload=payload,
        grid=partial(tables.corrected_comparison_grid, comparisons, layout, settings["population"]),
        csv_grid=partial(tables.corrected_comparisons_csv, comparisons),
    )


def _refuse_options_unused_with_gold() -> None:
    """Refuse options that would change nothing about a correction by gold labels."""
    unused = {
        "mid_p": "no sign test is made",
        "resamples": "nothing is drawn anew",
        "topics": "no single query is shown",
    }
    for name, why in unused.items():
        if common.is_given(name):
            raise OptionError(
                "unused-parameter",
                f"{common.option_name(name)} says nothing with --gold, where {why}: leave it out",
                parameter=name,
            )


def _split_baselines(baselines: tuple[str, ...], paths: tuple[str, ...]) -> tuple[str, ...]:
    """Baselines may also come as a list with commas, unless something is really called so."""
    from ringtrue.cli.options.files import name_runs

    run_names = {*name_runs(paths), *paths}
    name_lists = [
        [baseline] if baseline in run_names or Path(baseline).exists() else baseline.split(",")
        for baseline in baselines
    ]
    return tuple(dict.fromkeys(word.strip() for words in name_lists for word in words))


def _with_baseline_files(run_inputs: RunInputs, baselines: tuple[str, ...]) -> RunInputs:
    """The run inputs with the baselines that are files of their own read as runs too."""
    from ringtrue.cli.options.files import name_runs

    run_names = name_runs(run_inputs.runs)
    run_paths = {Path(path).resolve() for path in run_inputs.runs}
    baseline_files = {
        Path(baseline).resolve(): baseline
        for baseline in baselines
        if baseline not in run_names and Path(baseline).is_file()
    }
    widened = replace(
        run_inputs,
        runs=(*run_inputs.runs, *(baseline for path, baseline in baseline_files.items() if path not in run_paths)),
    )
    if run_inputs.name == "file":  # told before anything is read
        _resolve_baselines(baselines, widened.runs, name_runs(widened.runs))
    if len(widened.runs) < 2:
        raise OptionError(
            "needs-two-runs", f"a comparison needs two runs or more, found only {widened.runs[0]}", parameter="runs"
        )
    return widened


def _resolve_baselines(baselines: tuple[str, ...], paths: tuple[str, ...], run_names: list[str]) -> list[str]:
    """What the baselines are called, which may be given by name or by file."""
    name_by_path = {Path(path).resolve(): name for path, name in zip(paths, run_names, strict=True)}
    for baseline in baselines:
        if baseline not in run_names and Path(baseline).resolve() not in name_by_path:
            names_text = ", ".join(run_names[:5]) + (", …" if len(run_names) > 5 else "")
            suggestion = did_you_mean(baseline, run_names) or f"; the runs are {names_text}, and there is no such file"
            raise OptionError(
                "unknown-run", f"no run is called '{baseline}', the baseline{suggestion}", parameter="baseline"
            )
    return [baseline if baseline in run_names else name_by_path[Path(baseline).resolve()] for baseline in baselines]


def _count_resamples(scores: Scores, settings: dict[str, Any]) -> int:
    """How many pairs × resamples there are to do."""
    cube = scores.cube()
    n_others = len(cube.runs) - len(settings["baselines"])
    n_pairs = n_others * len(settings["baselines"]) if settings["baselines"] else n_others * (n_others - 1) // 2
    n_resampled_tests = (settings["test"] in ("permutation", "bootstrap")) + (settings["adjust"] == "tukey")
    return int(n_resampled_tests * n_pairs * len(cube.measures) * settings["resamples"])


def _comparison_as_dict(
    comparison: Comparison, scores: Scores, topics: pl.DataFrame | None, *, per_query: bool
) -> dict[str, object]:
    """A comparison for JSON."""
    payload = comparison.as_dict()
    if per_query:
        from ringtrue.cli.tables.comparisons import topic_texts
        from ringtrue.evaluation.significance import differences

        text_by_query = topic_texts(topics)
        payload["queries"] = [
            row | ({"asked": text_by_query[row["query"]]} if row["query"] in text_by_query else {})
            for row in differences(scores, comparison.a, comparison.b, comparison.measure).to_dicts()
        ]
    return payload


def _note_missing_topics(scores: Scores, topics: pl.DataFrame, path: str) -> list[Note]:
    query_ids = scores.frame["query"].unique(maintain_order=True)
    missing_ids = query_ids.filter(~query_ids.is_in(topics["query"].to_list())).to_list()
    text = f"{path} has no row for {len(missing_ids)} of {len(query_ids)} queries: {join_first_few(missing_ids)}"
    return [Note("missing-texts", text, parameter="topics")] if missing_ids else []


def _group_as_dict(group: Comparisons, scores: Scores) -> dict[str, object]:
    comparisons = [_comparison_as_dict(comparison, scores, None, per_query=False) for comparison in group]
    return {"comparisons": comparisons, "family": group.family, **notes_as_dict(group.notes)}
