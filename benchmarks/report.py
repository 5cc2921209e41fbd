"""The report: 37 runs with gold labels, every figure drawn; and the demo, its files and its page.

    python -m benchmarks.report FOLDER    write the files that the report is made from

What counts is a process of its own that starts, reads, computes, draws and writes. The runs are those of dl19 where
RINGTRUE_DATA names a folder that has it; otherwise they are made.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import correction
from benchmarks.process_cost import Cost, cost

TASKS = {
    "report": "ringtrue report: 37 runs with 300 gold labels, every figure drawn",
    "demo": "ringtrue demo: its world, its files and its report",
}
MOST_SECONDS = {"report": 15.0, "demo": 60.0}
RUNS, BRONZE, GOLD = "runs", "bronze.qrels", "gold.csv"


def taken(task: str) -> Cost:
    """What a command costs, in a folder of its own."""
    command = str(Path(sys.executable).parent / "ringtrue")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if task == "demo":
            return cost([command, "demo", "--folder", str(place / "demo"), "--json"])
        subprocess.run([sys.executable, "-m", "benchmarks.report", folder], check=True)
        runs = sorted(str(path) for path in (place / RUNS).iterdir())
        return cost(
            [command, "report", *runs, "--judgments", str(place / BRONZE), "--gold", str(place / GOLD), "-m",
             "P(rel=2)@10,DCG@10", "--rel", "2", "-o", str(place / "report.html"), "--json"]
        )  # fmt: skip


def _write(place: Path) -> None:
    from ringtrue.files import write_table

    runs, bronze, gold = correction.with_gold()
    (place / RUNS).mkdir()
    for run in runs:
        write_table(run, place / RUNS / f"{run.name}.run")
    write_table(bronze, place / BRONZE)
    write_table(gold, place / GOLD)


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
