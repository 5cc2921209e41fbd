"""Sessions: for each command a few calls on small files, as a person sees them; the words of the command line.

`tests/golden/cli/COMMAND.txt` holds them. Numbers and codes are asserted beside, in the tests of the commands.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ringtrue.cli import COMMANDS
from ringtrue.report.html import page as html_page

QUERIES = [f"q{number}" for number in range(1, 9)]
DOCS = range(1, 9)
SCORE = "--score .626 --sd .414 --queries 100 --relevant 43/59 --nonrelevant 67/84"

# In the folder are two runs, judgments by gold and by bronze, labels of a crowd with traps, preferences, topics and
# documents. Each command is shown with an answer, with a note, with data that cannot be used, and used wrongly.
SESSIONS = {
    "doctor": ["bm25.run dense.run bronze.qrels sample.csv", "cut.run", ""],
    "evaluate": [
        "bm25.run dense.run --judgments bronze.qrels",
        "bm25.run --judgments gold.qrels -m P@3 --by kind --topics topics.csv",
        "bm25.run dense.run --judgments bronze.qrels --gold sample.csv -m P@3",
        "bm25.run --judgments crowd.csv",
        "cut.run --judgments gold.qrels",
        "bm25.run --judgments gold.qrels -m nDGC@3",
        "bm25.run --judgments gold.qrels --rel 0",
        "bm25.run --judgments gold.qrels --topics topics.csv --json",
    ],
    "compare": [
        "bm25.run dense.run --judgments gold.qrels -m nDCG@3",
        "bm25.run dense.run --judgments bronze.qrels --gold sample.csv -m P@3",
        "bm25.run --judgments gold.qrels",
        "bm25.run dense.run --judgments gold.qrels --test z",
    ],
    "curve": [
        "bm25.run dense.run --judgments gold.qrels",
        "bm25.run --judgments gold.qrels --kind roc",
        "bm25.run --judgments gold.qrels --kind rok",
    ],
    "stability": [
        "bm25.run dense.run --judgments gold.qrels --versus bronze.qrels -m P@3",
        "bm25.run --judgments gold.qrels --versus bronze.qrels",
        "bm25.run dense.run --judgments gold.qrels",
    ],
    "agree": ["crowd.csv", "crowd.csv --gold gold.qrels", "gold.qrels", "crowd.csv --scale 3-0"],
    "aggregate": [
        "crowd.csv -o one.qrels",
        "crowd.csv --method majority --gold gold.qrels -o one.csv",
        "crowd.csv -o crowd.csv",
        "crowd.csv --method vote",
    ],
    "judges": [
        "crowd.csv",
        "crowd.csv --traps traps.csv",
        "crowd.csv --gold gold.qrels --confusion-out confusion.json",
        "crowd.csv --traps traps.csv --accept 3",
    ],
    "report": [
        "bm25.run dense.run --judgments gold.qrels -o report.html",
        "--labels crowd.csv --traps traps.csv -o report.html",
        "bm25.run -o report.html",
        "bm25.run --judgments gold.qrels -o report.pdf",
    ],
    "plot": [
        "forest bm25.run dense.run --judgments gold.qrels -o forest.svg",
        "florest bm25.run --judgments gold.qrels -o forest.svg",
        "judges bm25.run --judgments gold.qrels -o judges.svg",
    ],
    "serve": ["--restore backup.zip --db new.db --port 0", "--base-url ftp://judge.example.org --port 0", "--port x"],
    "pairs": [
        "bm25.run dense.run --budget 6 -o pairs.csv",
        "bm25.run dense.run --preferences preferences.csv --design active --budget 4 -o pairs.csv",
        "preferences.csv --budget 4 -o pairs.csv",
        "--budget 6 -o pairs.csv",
    ],
    "rate": [
        "preferences.csv",
        "preferences.csv --gold gold.qrels --interval none",
        "gold.qrels",
        "preferences.csv --threshold 0",
    ],
    "ceiling": [
        "bm25.run dense.run --judgments gold.qrels --labels crowd.csv -k 3",
        "bm25.run --judgments gold.qrels --confusion matrix.json",
        "--judgments gold.qrels",
        "--judgments gold.qrels --labels crowd.csv --draws 10",
    ],
    "disagreement": [
        "crowd.csv --at-least 1/3",
        "crowd.csv --at-least 1/3 --gold gold.qrels --gold-as-judge -o gains.json",
        "crowd.csv --at-least 3/1",
        "crowd.csv",
    ],
    "correct": [
        SCORE,
        f"{SCORE} --versus-score .55 --versus-sd .4 --versus-queries 100 --difference-sd .5",
        "--score .626 --sd .414 --queries 100 --relevant 3/9 --nonrelevant 2/8",
        "--score .626 --sd .414 --queries 100 --relevant 90% --nonrelevant 67/84",
        "--score 62.6 --sd .414 --queries 100 --relevant 43/59 --nonrelevant 67/84",
    ],
    "simulate": [
        "goldberg --replications 20",
        "rates --replications 2 --set queries=x",
        "likethese",
        "rates --data folder",
    ],
    "pool": ["bm25.run dense.run --depth 2 -o pool.csv", "bm25.run --depth 2 -o pool.qrels", "bm25.run -o pool.csv"],
    "sample": [
        "bm25.run dense.run --judgments bronze.qrels --budget 12 -m P@3 -o drawn.csv",
        "bm25.run dense.run --judgments bronze.qrels --queries 3 -o drawn.csv",
        "bm25.run dense.run --judgments bronze.qrels --budget 12 -o sample.csv",
        "bm25.run --judgments bronze.qrels -o drawn.csv",
    ],
    "plan": [
        "--half-width .05",
        "bm25.run --judgments bronze.qrels --gold sample.csv --budget 500 -m P@3",
        "--half-width .05 --accuracy 9",
        "--power .8",
    ],
    "convert": [
        "gold.qrels gold.csv",
        "crowd.csv crowd.qrels",
        "gold.qrels gold.xyz",
        "bm25.run bm25.pref",
        "gold.qrels",
    ],
    "measures": ["", "nDCG"],
    "demo": ["--folder demo --queries 10 --no-report", "--folder . --queries 10 --no-report", "--queries 1"],
    "version": ["", "now", "--jsn"],
}


def test_every_command_has_a_session() -> None:
    assert list(SESSIONS) == list(COMMANDS)


@pytest.fixture
def small_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands are called: files whose every line follows from its number."""
    for name, lines in _small_files().items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(html_page, "inline_svg", lambda figure, *, width_px: f"<svg>{figure.name}</svg>")
    monkeypatch.setattr("sys.argv", ["ringtrue"])
    return tmp_path


@pytest.mark.parametrize("command", SESSIONS)
def test_golden_session(
    small_world: Path, ringtrue: Callable[..., Any], golden: Callable[[str, str], None], command: str
) -> None:
    shown = []
    for words in SESSIONS[command]:
        answer = ringtrue(command, *shlex.split(words))
        shown.append(f"$ ringtrue {command} {words}".rstrip() + f"\n{answer.out}{answer.err}exit {answer.code}\n")
    assert str(small_world) not in "".join(shown)
    golden(f"cli/{command}.txt", "\n".join(shown))


def _small_files() -> dict[str, list[str]]:
    def truth(query: int, doc: int) -> int:
        return (query * query + 3 * doc + query * doc * doc) % 7 // 2

    def by_bronze(query: int, doc: int) -> int:
        return min(3, max(0, truth(query, doc) + ((query + 2 * doc) % 5 == 0) - ((3 * query + doc) % 6 == 0)))

    cells = [(query, doc) for query in range(1, len(QUERIES) + 1) for doc in DOCS]
    ids = {(query, doc): f"q{query} d{query}{doc}" for query, doc in cells}
    orders = {
        "bm25": lambda query, doc: -((doc * 3 + query) % 11),
        "dense": lambda query, doc: 4 * truth(query, doc) + (doc * 7 + query) % 9,
    }
    files = {
        f"{name}.run": [
            f"{ids[query, doc].replace(' ', ' Q0 ')} 1 {order(query, doc)}.{doc} {name}"
            for query, doc in cells
            if doc < 7
        ]
        for name, order in orders.items()
    }
    files |= {
        "cut.run": ["q1 Q0 d11 1 2.0 cut", "q1 Q0 d12 2"],
        "gold.qrels": [f"{ids[cell].replace(' ', ' 0 ')} {truth(*cell)}" for cell in cells],
        "bronze.qrels": [f"{ids[cell].replace(' ', ' 0 ')} {by_bronze(*cell)}" for cell in cells],
    }
    crowd = [
        (query, doc, judge, min(3, max(0, truth(query, doc) - (query * doc) % (judge + 2) // (judge + 1))))
        for query, doc in cells
        for judge in (1, 2, 3)
        if (query + doc + judge) % 4
    ]
    names = {1: "ann", 2: "bob", 3: "cy"}
    files["crowd.csv"] = ["query,doc,judge,label"] + [
        f"{ids[query, doc].replace(' ', ',')},{names[judge]},{label}" for query, doc, judge, label in crowd
    ]
    files["traps.csv"] = ["query,doc,label"] + [
        f"{ids[cell].replace(' ', ',')},{truth(*cell)}" for cell in cells if sum(cell) % 5 == 0
    ]
    files["sample.csv"] = ["query,doc,prob,stratum,design,label"] + [
        f"{ids[query, doc].replace(' ', ',')},0.5,q{query},pool_stratified,{truth(query, doc)}"
        for query, doc in cells
        if doc < 7 and (doc + query * query // 3) % 2
    ]
    files["preferences.csv"] = ["query,left,right,judge,winner"] + [
        f"q{query},d{query}{left},d{query}{right},{names[judge]},"
        f"{'left' if truth(query, left) > truth(query, right) else 'right'}"
        for query in (1, 2)
        for left, right in ((1, 2), (2, 3), (3, 4), (1, 4), (1, 3))
        for judge in (1, 2)
    ]
    files["topics.csv"] = ["query,title,kind"] + [
        f"{query},words of {query},{('short', 'long')[number % 2]}" for number, query in enumerate(QUERIES)
    ]
    files["matrix.json"] = [
        '{"rows": "gold", "columns": "bronze", "labels": [0, 1, 2, 3],',
        '"matrix": [[0.8, 0.2, 0, 0], [0.1, 0.8, 0.1, 0], [0, 0.1, 0.8, 0.1], [0, 0, 0.2, 0.8]]}',
    ]
    return files
