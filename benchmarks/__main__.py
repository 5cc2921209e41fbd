"""Measure everything and print it: `python -m benchmarks [--quick] [--data DIR]`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import (
    aggregation,
    ceiling,
    correction,
    crashes,
    disagreement,
    krippendorff_alpha,
    ratings,
    report,
    resampling_tests,
    service,
    significance,
)
from benchmarks.data import Collection, Files
from benchmarks.peers import BASELINES, command, contestants
from benchmarks.process_cost import Cost, cost
from benchmarks.promises import (
    Promise,
    promise,
    promise_of_aggregating,
    promise_of_alpha,
    promise_of_ceilings,
    promise_of_comparing,
    promise_of_correcting,
    promise_of_disagreeing,
    promise_of_rating,
    promise_of_resampling,
    promise_of_serving,
)
from benchmarks.readme_table import Summary
from benchmarks.same_numbers import agreement

SIZES = (Collection(queries=50), Collection(queries=1_000), Collection(queries=10_000))
RIVALS = Collection(queries=200, runs=20)
MOST_TURNS = 7
AGGREGATED = (1_000_000, 10_000_000)  # labels
LARGE = 10_000  # queries, from which the slow ones run only once
SHOWN = {"parsing": "Polars, parsing alone", "importing": "importing NumPy, Polars"}
SHOWN_COMPARING = SHOWN | {"ringtrue": "ringtrue compare", "pytrec_eval": "pytrec_eval + SciPy", "ranx": "ranx compare"}


def main() -> None:
    """Ends with an error when something crashes, not when a promise is broken: timings are no test."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="How fast is ringtrue?")
    parser.add_argument("--quick", action="store_true", help="Leave out the ten million lines.")
    parser.add_argument("--data", type=Path, default=Path("bench-data"), help="Where the data are kept.")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="Put a table of it into a page: README.md.")
    given = parser.parse_args()
    summary = Summary(where=f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    print(summary.where, flush=True)
    print("CPU seconds: the least of several turns; peak MB: the most", flush=True)
    for collection in SIZES[:2] if given.quick else SIZES:
        files = _made(collection, given.data)
        print(f"\n{_title(collection, files)}", flush=True)
        costs = _costs(files, collection.queries)
        print(_table(costs, partial(promise, costs=costs, queries=collection.queries), SHOWN), flush=True)
        summary.add(f"evaluate {collection.queries * collection.depth:,} lines", _seconds(costs), leaving=BASELINES)
        if collection.queries == 50:
            print(f"\n{agreement(files, contestants())}", flush=True)
    _compare(_made(RIVALS, given.data), summary)
    _aggregate(AGGREGATED[:1] if given.quick else AGGREGATED, summary)
    _alpha(summary)
    _correct(summary)
    _disagreeing()
    _ceilings()
    _rate(summary)
    _report(summary)
    if given.write is not None:
        summary.write(given.write)
    _serve(12 if given.quick else 60)
    if not given.quick:
        _study()


def _seconds(costs: Mapping[str, Cost]) -> dict[str, float]:
    return {name: found.seconds for name, found in costs.items()}


def _report(summary: Summary) -> None:
    """One page with everything, and the demo."""
    print(f"\nThe report ({correction.where()})\n{'':<74}{'CPU s':>8}  promise")
    for task, words in report.TASKS.items():
        found, most = report.taken(task), report.MOST_SECONDS[task]
        promised = Promise(f"less than {most:g} s", found.seconds < most)
        print(f"{words:<74}{found.seconds:>8.2f}{_words(promised)}", flush=True)
        summary.add(words, {"ringtrue": found.seconds})


def _correct(summary: Summary) -> None:
    """Correction by gold labels: no other package does it, so that these are seconds."""
    print(f"\nCorrection by gold labels ({correction.where()})\n{'':<74}{'CPU s':>8}  promise")
    for task, words in correction.TASKS.items():
        seconds = correction.taken(task)
        print(f"{words:<74}{seconds:>8.3f}{_words(promise_of_correcting(task, seconds))}", flush=True)
        if task in ("correct", "compare"):
            summary.add(words, {"ringtrue": seconds})


def _disagreeing() -> None:
    """Weights from disagreement."""
    print(f"\nWeights from disagreement ({disagreement.where()})\n{'':<56}{'CPU s':>8}  promise")
    for task, words in disagreement.TASKS.items():
        cost = disagreement.taken(task)
        print(f"{words:<56}{cost:>8.2f}" + _words(promise_of_disagreeing(cost)), flush=True)


def _ceilings() -> None:
    """The ceiling on nDCG: exact, and as the paper has it."""
    costs = {task: ceiling.taken(task) for task in ceiling.TASKS}
    print(f"\nThe ceiling on nDCG, {ceiling.WHAT}\n{'':<42}{'CPU s':>8}{'× exact':>10}  promise")
    for task, words in ceiling.TASKS.items():
        line = f"{words:<42}{costs[task]:>8.2f}{costs[task] / costs['exact']:>10.2f}"
        print(line + _words(promise_of_ceilings(task, costs)), flush=True)


def _rate(summary: Summary) -> None:
    """Ratings from votes, and the next pairs."""
    for name, case in ratings.CASES.items():
        costs = {one: ratings.taken(name, one) for one in case.contestants}
        print(f"\n{case.words}", flush=True)
        print(
            _table(costs, partial(promise_of_rating, name, costs=costs), {}).replace("peak MB", "more MB"), flush=True
        )
        if name in ("elo-1000", "bradley-terry"):
            summary.add(case.words, _seconds(costs))
    print(ratings.agreement(), flush=True)


def _serve(seconds: float) -> None:
    """50 judges at once, on both databases, by pages and by the API; and a server that is killed under load."""
    for kind in service.DATABASES:
        for way in service.WAYS:
            load = service.measured(kind, way, judges=50, seconds=seconds)
            print(f"\n{service.title(kind, way, judges=50, seconds=seconds)}")
            words = service.lines(load, lambda name, load: _words(promise_of_serving(name, load)))
            print("\n".join(words), flush=True)
        with service.database(kind) as (url, _):
            survival = crashes.survive_kills(url, kills=crashes.KILLS)
        promised = Promise("nothing lost, nothing twice", survival.is_whole)
        print(f"\n{service.DATABASES[kind]}, {crashes.describe(survival)}{_words(promised)}", flush=True)


def _study() -> None:
    """Do the intervals keep their promise on real judges? Twenty minutes, where RINGTRUE_DATA has the collections."""
    folders = [Path(os.environ.get("RINGTRUE_DATA", "")) / name for name in ("dl19", "dl21")]
    if not all((folder / "runs").is_dir() for folder in folders):
        print("\nthe study on real judges needs RINGTRUE_DATA with dl19 and dl21", flush=True)
        return
    named = [word for folder in folders for word in ("--data", str(folder))]
    print("\nringtrue simulate real", flush=True)
    subprocess.run([str(Path(sys.executable).parent / "ringtrue"), "simulate", "real", *named], check=True)


def _alpha(summary: Summary) -> None:
    """Krippendorff's alpha, and whether all find the same."""
    for name, case in krippendorff_alpha.CASES.items():
        found = {one: krippendorff_alpha.taken(name, one) for one in krippendorff_alpha.CONTESTANTS}
        costs = {one: seconds for one, (seconds, _) in found.items()}
        print(f"\n{case.words}\n{'':<24}{'CPU s':>8}{'× ringtrue':>12}  promise")
        for one, seconds in costs.items():
            ratio = seconds / costs["ringtrue"]
            print(f"{one:<24}{seconds:>8.4f}{ratio:>12.2f}{_words(promise_of_alpha(one, costs))}", flush=True)
        summary.add(case.words, costs)
        values = [value for _, value in found.values()]
        print(f"largest difference {max(values) - min(values):.1e}", flush=True)


def _aggregate(sizes: Sequence[int], summary: Summary) -> None:
    """Many judges' labels to one: against crowd-kit at the first size, alone at the others."""
    for labels in sizes:
        costs: dict[str, Cost] = {}
        for name, turns in (("ringtrue", 3), ("crowd-kit", 1)) if labels == sizes[0] else (("ringtrue", 2),):
            for _ in range(turns):
                costs[name] = aggregation.taken(name, labels).and_again(costs.get(name))
        print(f"\nDawid–Skene, {labels:,} labels, {aggregation.WHAT}", flush=True)
        summary.add(f"Dawid–Skene, {labels:,} labels", _seconds(costs))
        promised = partial(promise_of_aggregating, labels=labels, costs=costs)
        print(_table(costs, promised, {}).replace("peak MB", "more MB"), flush=True)
    print(aggregation.agreement(), flush=True)


def _compare(files: Files, summary: Summary) -> None:
    """Comparing many runs: the whole job, whether all find the same, and the tests alone."""
    pairs = RIVALS.runs * (RIVALS.runs - 1) // 2
    lines, size = RIVALS.runs * RIVALS.queries * RIVALS.depth, sum(run.stat().st_size for run in files.runs) / 1e6
    what = f"{RIVALS.runs} runs × {RIVALS.queries} queries × {RIVALS.depth:,} documents"
    print(f"\n{what}, {pairs} pairs: {lines:,} lines, {size:,.0f} MB", flush=True)
    costs: dict[str, Cost] = {}
    for _ in range(MOST_TURNS):
        for name in significance.JOBS:
            costs[name] = cost(significance.command(name, files)).and_again(costs.get(name))
    print(_table(costs, partial(promise_of_comparing, costs=costs), SHOWN_COMPARING), flush=True)
    summary.add(
        f"compare {RIVALS.runs} runs of {RIVALS.queries * RIVALS.depth:,} lines, {pairs} pairs",
        _seconds(costs),
        leaving=BASELINES,
    )
    print(f"\n{significance.agreement(files)}", flush=True)

    title = f"tests alone, {resampling_tests.QUERIES} queries"
    print(f"\n{title:<32}{'runs':>6}{'measures':>10}{'pairs':>7}{'CPU s':>8}")
    for name, case in resampling_tests.CASES.items():
        taken = resampling_tests.seconds(name)
        line = f"{case.words:<32}{case.runs:>6}{case.measures:>10}{case.pairs:>7,}{taken:>8.3f}"
        print(line + _words(promise_of_resampling(name, taken)), flush=True)


def _made(collection: Collection, folder: Path) -> Files:
    words = ["--data", str(folder), "--queries", str(collection.queries)]  # in a process of its own: see `cost`
    subprocess.run([sys.executable, "-m", "benchmarks.generate", *words], check=True, stdout=subprocess.DEVNULL)
    return Files(folder / collection.name)


def _costs(files: Files, queries: int) -> dict[str, Cost]:
    """What each one cost, the best of several. They take turns, so that a busy moment hits all alike."""
    best: dict[str, Cost] = {}
    for turn in range(MOST_TURNS):
        for name in [*contestants(), *BASELINES]:
            if turn < _turns(name, queries):
                best[name] = cost(command(name, files.run, files.qrels)).and_again(best.get(name))
    return best


def _turns(name: str, queries: int) -> int:
    if queries < LARGE:
        return MOST_TURNS
    return 2 if name == "ringtrue" or name in BASELINES else 1


def _title(collection: Collection, files: Files) -> str:
    lines, size = collection.queries * collection.depth, files.run.stat().st_size / 1e6
    return f"{collection.queries:,} queries × {collection.depth:,} documents: {lines:,} lines, {size:,.0f} MB"


def _table(costs: Mapping[str, Cost], promised: Callable[[str], Promise | None], shown: Mapping[str, str]) -> str:
    lines = [f"{'':<24}{'CPU s':>8}{'peak MB':>9}{'× ringtrue':>12}  promise"]
    for name, found in costs.items():
        ratio = found.seconds / costs["ringtrue"].seconds
        line = f"{shown.get(name, name):<24}{found.seconds:>8.2f}{found.megabytes:>9,.0f}{ratio:>12.2f}"
        lines.append(line + _words(promised(name)))
    return "\n".join(lines)


def _words(promised: Promise | None) -> str:
    return "" if promised is None else f"  {promised.words} ({'kept' if promised.kept else 'NOT KEPT'})"


if __name__ == "__main__":
    main()
