"""`ringtrue simulate real`: gold drawn again and again from folders with runs, full gold and judges who err."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

ROW = ["collection", "judge", "measure", "method", "draws", "runs", "coverage", "lowest", "bias", "width", "against"]
WORDS = ("simulate", "real", "--data", "shop", "--replications", "4")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three runs over 36 queries, gold of everything, and two judges."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, (36, 30))
    folder = tmp_path / "shop"
    (folder / "runs").mkdir(parents=True)
    for name in ("a", "b", "c"):
        scores = truth + rng.normal(0, 3, truth.shape)
        lines = [f"q{q} Q0 d{d} 0 {scores[q, d]:.6f} {name}" for q in range(36) for d in range(30)]
        (folder / "runs" / f"{name}.run").write_text("\n".join(lines) + "\n")
    for file, labels in (
        ("gold.qrels", truth),
        ("llm-kind.qrels", np.minimum(truth + (rng.random(truth.shape) < 0.4), 3)),
        ("strict.qrels", (truth > 1) & (rng.random(truth.shape) < 0.7)),
    ):
        (folder / file).write_text("".join(f"q{q} 0 d{d} {int(labels[q, d])}\n" for q in range(36) for d in range(30)))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.slow
def test_json_has_a_row_for_each_judge_measure_and_method(shop: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--set", "labels=100", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert list(found) == ["study", "rows", "forecast", "level", "settings", "seed", "notes", "note_codes"]
    assert found["settings"] == {"labels": 100, "pair_labels": 150, "queries": 20, "extension": 60, "rel": 2, "k": 10}
    assert [list(row) for row in found["rows"]] == [ROW] * len(found["rows"])
    assert list(dict.fromkeys(row["judge"] for row in found["rows"])) == ["kind", "strict"]
    methods = {row["method"].split(",")[0] for row in found["rows"]}
    assert methods >= {"difference", "gold alone", "published", "bounds", "interval"}
    assert sum("extended to" in method for method in methods) == 1
    first = found["rows"][0]
    assert (first["collection"], first["draws"], first["runs"], first["against"]) == ("shop", 4, 3, "gold alone")
    assert 0 < first["width"] < 1.5
    assert {row["measure"] for row in found["rows"]} >= {"P(rel=2)@10", "DCG@10", "nDCG@10"}
    forecasts = [(row["judge"], row["measure"], row["labels"], row["population"]) for row in found["forecast"]]
    assert len(set(forecasts)) == len(forecasts) == 2 * (2 * 3 + 1) * 2
    assert forecasts[0] == ("kind", "P(rel=2)@10", 33, "these")
    assert all(0.3 < row["ratio"] < 3 for row in found["forecast"])


@pytest.mark.slow
def test_the_table_says_what_its_columns_mean(shop: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS)
    lines = answer.out.splitlines()
    assert lines[0].split() == ["judge", "measure", "method", "runs", "coverage", "lowest", "bias", "width"]
    assert any(line.startswith("4 draws ") and " shop " in line for line in lines)
    assert any(line.startswith("coverage: ") and "95% interval" in line for line in lines)
    assert [line for line in lines if line != line.rstrip()] == []
    wide = ringtrue(*WORDS, "--level", "0.8", "--format", "markdown").out
    assert "80% interval" in wide


@pytest.mark.slow
def test_several_collections_are_told_apart(shop: Path, ringtrue) -> None:
    shop.rename("other")
    Path("shop").mkdir()
    for path in Path("other").rglob("*"):
        target = Path("shop") / path.relative_to("other")
        target.mkdir(exist_ok=True) if path.is_dir() else target.write_bytes(path.read_bytes())
    answer = ringtrue(*WORDS, "--data", "other")
    assert answer.out.splitlines()[0].split()[0] == "collection"
    grids = answer.out.split("\n\n")
    for grid, caption in zip(grids, (4, 2), strict=True):
        assert {line.split()[0] for line in grid.splitlines()[2:-caption]} == {"shop", "other"}
    assert ringtrue(*WORDS, "--data", "../" + Path.cwd().name + "/shop", "--json").stop == (2, "duplicate-name", "data")


@pytest.mark.slow
def test_csv_has_every_digit_and_the_same_seed_the_same_draws(shop: Path, ringtrue) -> None:
    first, other = (ringtrue(*WORDS, "--seed", seed, "--format", "csv").out for seed in ("1", "2"))
    assert first != other
    rows = list(csv.DictReader(io.StringIO(first)))
    assert list(rows[0]) == ROW
    again = ringtrue(*WORDS, "--seed", "1", "--json").json["rows"]
    assert rows == [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in again]
    assert rows[1]["width"] == ""


@pytest.mark.slow
def test_a_judge_has_the_same_draws_whichever_folders_come_with_it(shop: Path, ringtrue) -> None:
    both = ringtrue(*WORDS, "--json").json["rows"]
    (shop / "strict.qrels").unlink()
    alone = ringtrue(*WORDS, "--json").json["rows"]
    assert alone == [row for row in both if row["judge"] == "kind"]


@pytest.mark.slow
@pytest.mark.usefixtures("each_study_once")
def test_where_gold_judges_everything_no_number_is_made_up(shop: Path, ringtrue) -> None:
    answer = ringtrue(*WORDS, "--set", "labels=2000", "--json")
    assert (answer.code, answer.err) == (0, "")
    first = answer.json["rows"][0]
    assert (first["coverage"], first["width"]) == (1, None)
    table = ringtrue(*WORDS, "--set", "labels=2000").out
    assert "nan" not in table.lower()


@pytest.mark.parametrize(
    ("words", "stop"),
    [
        ([], (2, "needs-parameter", "data")),
        (["--data", "none"], (1, "no-such-folder", "data")),
        (["--data", "."], (1, "incomplete-folder", "data")),
        (["--data", "bare"], (1, "incomplete-folder", "data")),
        (["--data", "alone"], (1, "incomplete-folder", "data")),
        (["--data", "shop", "--set", "labels=3"], (2, "bad-value", "set")),
        (["--data", "shop", "--set", "pair_labels=0"], (2, "bad-value", "set")),
        (["--data", "shop", "--set", "queries=1"], (2, "bad-value", "set")),
        (["--data", "shop", "--set", "queries=36"], (1, "too-few-queries", None)),
        (["--data", "shop", "--set", "k=0"], (2, "bad-value", "set")),
        (["--data", "shop", "--set", "rel=4"], (2, "bad-value", "set")),
        (["--data", "shop", "--set", "label=30"], (2, "unknown-setting", "set")),
    ],
)
def test_what_cannot_be_studied_is_told_in_one_line(
    shop: Path, ringtrue, words: list[str], stop: tuple[int, str, str | None]
) -> None:
    for name in ("bare", "alone"):
        Path(name).mkdir()
        (Path(name) / "gold.qrels").write_text("q 0 d 1\n")
    (Path("alone") / "runs").mkdir()
    (Path("alone") / "runs" / "a.run").write_text("q Q0 d 1 1.0 a\n")
    answer = ringtrue("simulate", "real", "--replications", "2", *words, "--json")
    assert answer.stop == stop
    assert answer.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.real
def test_a_real_collection_with_four_judges(data: Path, ringtrue) -> None:
    answer = ringtrue("simulate", "real", "--data", str(data / "dl21"), "--replications", "3", "--json")
    rows = answer.json["rows"]
    assert {row["judge"] for row in rows} == {"binary_gpt4", "binary_gpt4o", "binary_llama3.2", "umbrela_gpt4"}
    assert {row["measure"] for row in rows} == {
        "P(rel=2)@10", "DCG@10", "nDCG@10", "P(rel=2)@10, a − b", "DCG@10, a − b",
    }  # fmt: skip
    assert len(rows) == 4 * (17 + 2 * 2 + 2 * (2 + 2))  # few and more queries; a new family and lost labels
