"""The whole job, from files to the value of five measures for every query, as each package's users would do it.

    python -m benchmarks.peers pytrec_eval RUN QRELS [--show]

Each runs in a process of its own, so that imports, reading and computing all count. With `--show` the values
are printed as JSON, to be compared; when time is taken they are not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Values: TypeAlias = dict[str, dict[str, float]]  # query → measure → value
Job: TypeAlias = Callable[[str, str], Values]

TREC_EVAL_BINARY = "RINGTRUE_TREC_EVAL"  # the environment variable that says where it is
MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@100")
TREC_EVAL = {"nDCG@10": "ndcg_cut.10", "AP": "map", "P@10": "P.10", "RR": "recip_rank", "R@100": "recall.100"}
PRINTED = {name: theirs.replace(".", "_") for name, theirs in TREC_EVAL.items()}  # asked for with a dot, told with _
RANX = {"nDCG@10": "ndcg@10", "AP": "map", "P@10": "precision@10", "RR": "mrr", "R@100": "recall@100"}


def pytrec_eval(run: str, qrels: str) -> Values:
    """As its README does."""
    import pytrec_eval

    with open(qrels) as file:
        judgments = pytrec_eval.parse_qrel(file)
    with open(run) as file:
        retrieved = pytrec_eval.parse_run(file)
    found = pytrec_eval.RelevanceEvaluator(judgments, set(TREC_EVAL.values())).evaluate(retrieved)
    return {query: {name: row[theirs] for name, theirs in PRINTED.items()} for query, row in found.items()}


def ir_measures(run: str, qrels: str) -> Values:
    """As its README does."""
    import ir_measures

    asked = [ir_measures.parse_measure(name) for name in MEASURES]
    judgments, retrieved = ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
    values: Values = {}
    for metric in ir_measures.iter_calc(asked, judgments, retrieved):
        values.setdefault(metric.query_id, {})[str(metric.measure)] = metric.value
    return values


def ranx(run: str, qrels: str) -> Values:
    """As its documentation does. What it compiles when it is first used is part of the time."""
    from ranx import Qrels, Run, evaluate

    judgments, retrieved = Qrels.from_file(qrels, kind="trec"), Run.from_file(run, kind="trec")
    evaluate(judgments, retrieved, list(RANX.values()), return_mean=False, save_results_in_run=True)
    values: Values = {}
    for name, theirs in RANX.items():
        for query, value in retrieved.scores[theirs].items():
            values.setdefault(query, {})[name] = float(value)
    return values


def parsing(run: str, qrels: str) -> Values:  # noqa: ARG001 - every job takes the same
    """No evaluation: Polars reads three columns of the run, and nothing is checked."""
    import polars as pl

    names = ["query", "q0", "doc", "rank", "score", "tag"]
    schema = {name: pl.Float64 if name == "score" else pl.String for name in names}
    pl.read_csv(run, has_header=False, separator=" ", quote_char=None, schema=schema, columns=[0, 2, 4])
    return {}


def importing(run: str, qrels: str) -> Values:  # noqa: ARG001 - every job takes the same
    """No evaluation, no file: what Python needs to start with NumPy and Polars."""
    import numpy  # noqa: F401, ICN001
    import polars  # noqa: F401, ICN001

    return {}


PEERS: dict[str, Job] = {"pytrec_eval": pytrec_eval, "ir_measures": ir_measures, "ranx": ranx}
BASELINES: dict[str, Job] = {"parsing": parsing, "importing": importing}


def contestants() -> list[str]:
    """Everybody who does the whole job here: ringtrue, trec_eval where it is, the peers."""
    return ["ringtrue", *(["trec_eval"] if os.environ.get(TREC_EVAL_BINARY) else []), *PEERS]


def command(name: str, run: Path, qrels: Path, *, show: bool = False) -> list[str]:
    """The words that start a job: ringtrue, trec_eval, a peer or a baseline."""
    if name == "ringtrue":
        ours = str(Path(sys.executable).with_name("ringtrue"))
        return [
            ours,
            "evaluate",
            str(run),
            "--judgments",
            str(qrels),
            "-m",
            ",".join(MEASURES),
            "--per-query",
            "--json",
        ]
    if name == "trec_eval":
        asked = [word for measure in TREC_EVAL.values() for word in ("-m", measure)]
        return [os.environ[TREC_EVAL_BINARY], "-q", *asked, str(qrels), str(run)]
    return [sys.executable, "-m", __spec__.name, name, str(run), str(qrels), *(["--show"] if show else [])]


def values(name: str, run: Path, qrels: Path) -> Values:
    """What a job finds for every query."""
    words = command(name, run, qrels, show=True)
    printed = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    if name == "trec_eval":
        return _trec_eval_values(printed)
    found = json.loads(printed)
    if name == "ringtrue":
        (found,) = found["queries"].values()
    result: Values = found
    return result


def _trec_eval_values(printed: str) -> Values:
    ours = {theirs: name for name, theirs in PRINTED.items()}
    found: Values = {}
    for name, query, value in (line.split() for line in printed.splitlines()):
        if query != "all" and name in ours:
            found.setdefault(query, {})[ours[name]] = float(value)
    return found


def main() -> None:
    """Do one job."""
    name, run, qrels, *flags = sys.argv[1:]
    found = (PEERS | BASELINES)[name](run, qrels)
    if "--show" in flags:
        json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
