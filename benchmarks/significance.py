"""The whole job of comparing many runs, from files to p for every pair, as each package's users would do it.

    python -m benchmarks.significance pytrec_eval QRELS RUN… [--show]

The paired t test on nDCG@10. Each runs in a process of its own; with `--show` what it found is printed as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchmarks import peers
from benchmarks.data import Files

MEASURE, TREC_EVAL, RANX = "nDCG@10", "ndcg_cut.10", "ndcg@10"


class P(NamedTuple):
    """What a pair of runs got: p for itself, and adjusted for all pairs where the package does that."""

    alone: float
    adjusted: float | None


Pairs: TypeAlias = dict[str, P]  # "a b" → p
Job: TypeAlias = Callable[[str, Sequence[str]], Pairs]


def pytrec_eval(qrels: str, runs: Sequence[str]) -> Pairs:
    """As its README does for one run and another, with SciPy's test; Holm's adjustment by hand."""
    import numpy as np
    import pytrec_eval
    from scipy import stats

    with open(qrels) as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {TREC_EVAL})
    values: dict[str, dict[str, float]] = {}
    for path in runs:
        with open(path) as file:
            found = evaluator.evaluate(pytrec_eval.parse_run(file))
        values[_name(path)] = {query: row[TREC_EVAL.replace(".", "_")] for query, row in found.items()}
    queries = sorted(set.intersection(*(set(row) for row in values.values())))
    aligned = {name: [row[query] for query in queries] for name, row in values.items()}

    pairs = list(combinations(aligned, 2))
    p = np.array([stats.ttest_rel(aligned[a], aligned[b]).pvalue for a, b in pairs])
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order]), 1)
    return {_pair(*pair): P(float(p[i]), float(adjusted[i])) for i, pair in enumerate(pairs)}


def ranx(qrels: str, runs: Sequence[str]) -> Pairs:
    """As its documentation does; it does not adjust."""
    from ranx import Qrels, Run, compare

    judgments = Qrels.from_file(qrels, kind="trec")
    retrieved = [Run.from_file(path, kind="trec", name=_name(path)) for path in runs]
    report = compare(judgments, runs=retrieved, metrics=[RANX], stat_test="student")
    names = [run.name for run in retrieved]
    return {_pair(a, b): P(float(report.comparisons[a, b][RANX]["p_value"]), None) for a, b in combinations(names, 2)}


def parsing(qrels: str, runs: Sequence[str]) -> Pairs:
    """No comparison: Polars reads three columns of every run, and nothing is checked."""
    for path in runs:
        peers.parsing(path, qrels)
    return {}


def importing(qrels: str, runs: Sequence[str]) -> Pairs:
    """No comparison, no file: what Python needs to start with NumPy and Polars."""
    peers.importing(runs[0], qrels)
    return {}


PEERS: dict[str, Job] = {"pytrec_eval": pytrec_eval, "ranx": ranx}
BASELINES: dict[str, Job] = {"parsing": parsing, "importing": importing}
JOBS = ["ringtrue", *PEERS, *BASELINES]


def command(name: str, files: Files, *, show: bool = False) -> list[str]:
    """The words that start a job."""
    qrels, runs = str(files.qrels), [str(path) for path in files.runs]
    if name == "ringtrue":
        ours = str(Path(sys.executable).with_name("ringtrue"))
        return [ours, "compare", *runs, "--judgments", qrels, "-m", MEASURE, "--json"]
    return [sys.executable, "-m", "benchmarks.significance", name, qrels, *runs, *(["--show"] if show else [])]


def agreement(files: Files) -> str:
    """The largest difference from ringtrue over all pairs, in p and in adjusted p."""
    ours = _found("ringtrue", files)
    lines = [f"{'largest difference':<24}{'p':>9}{'adjusted p':>12}"]
    for name in PEERS:
        theirs = _found(name, files)
        if ours.keys() != theirs.keys():
            raise ValueError(f"expected p for {len(ours)} pairs, found {len(theirs)} or others")
        alone = max(abs(ours[pair].alone - theirs[pair].alone) for pair in ours)
        both = [(one.adjusted, theirs[pair].adjusted) for pair, one in ours.items()]
        known = [abs(a - b) for a, b in both if a is not None and b is not None]
        adjusted = f"{max(known):>12.1e}" if known else f"{'–':>12}  does not adjust, breaks ties in another way"
        lines.append(f"{name:<24}{alone:>9.1e}{adjusted}")
    return "\n".join(lines)


def _found(name: str, files: Files) -> Pairs:
    words = command(name, files, show=True)
    printed = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)
    if name == "ringtrue":
        return {_pair(one["a"], one["b"]): P(one["p_value"], one["p_adjusted"]) for one in printed["comparisons"]}
    return {pair: P(*numbers) for pair, numbers in printed.items()}


def _name(path: str) -> str:
    return Path(path).stem


def _pair(a: str, b: str) -> str:
    return f"{a} {b}"


def main() -> None:
    """Do one job."""
    name, qrels, *rest = sys.argv[1:]
    found = (PEERS | BASELINES)[name](qrels, [word for word in rest if word != "--show"])
    if "--show" in rest:
        json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
