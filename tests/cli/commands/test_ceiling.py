"""`ringtrue ceiling`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ringtrue as rt

TWO = 0.75 + 0.25 / math.log2(3)
MATRIX = {"rows": "testing judge", "columns": "training judge", "labels": [0, 1], "matrix": [[0.8, 0.2], [0.3, 0.7]]}
LABELS = "query,doc,judge,label\n" + "".join(
    f"q{q},d{d},{judge},{(d + q * shift) % 2}\n"
    for q in range(4)
    for d in range(4)
    for shift, judge in enumerate(("ann", "bob"))
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two documents for each of three queries, one of them without gain, a matrix, labels and runs."""
    (tmp_path / "j.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 0\nq2 0 d2 1\nq3 0 d1 0\n")
    (tmp_path / "m.json").write_text(json.dumps(MATRIX))
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "good.run").write_text("q1 Q0 d1 1 2 x\nq1 Q0 d2 2 1 x\nq2 Q0 d2 1 2 x\nq2 Q0 d1 2 1 x\n")
    (tmp_path / "bad.run").write_text("q1 Q0 d2 1 2 x\nq1 Q0 d1 2 1 x\nq2 Q0 d1 1 2 x\nq2 Q0 d2 2 1 x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_matrix(**changed: Any) -> str:
    return json.dumps(MATRIX | changed)


def test_json_has_the_keys_of_the_contract(folder: Path, ringtrue: Callable[..., Any]) -> None:
    answer = ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "--run", "bad.run", "--json").json
    assert list(answer["ceiling"]) == ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]
    assert answer["ceiling"]["value"] == pytest.approx(TWO)
    assert (answer["queries"], answer["skipped"], answer["method"]) == (2, 1, "exact")
    assert answer["runs"]["bad"]["ndcg"] == pytest.approx(1 / math.log2(3))
    assert answer["runs"]["bad"]["share"] == pytest.approx(1 / math.log2(3) / TWO)
    assert (answer["confusion"]["rows"], answer["confusion"]["columns"]) == ("testing judge", "training judge")
    assert answer["note_codes"][0] == "worthless-queries"
    assert answer["notes"][0].endswith(": q3")


def test_the_screen_says_what_it_means_and_what_is_next(folder: Path, ringtrue: Callable[..., Any]) -> None:
    alone = ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "m.json")
    assert alone.code == 0
    assert all(part in alone.out for part in ("reaches 0.908 by", "0 in 30.0% of", "--run RUN"))
    below = ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "--run", "bad.run").out
    assert all(part in below for part in ("at 0.631, 70% of", "0.277 (0.277 to 0.277) below", "That much"))
    assert "--run RUN" not in below


def test_a_run_above_the_ceiling_is_told(folder: Path, ringtrue: Callable[..., Any]) -> None:
    # Runs may also follow as words, so that a pattern of the shell will do.
    found = ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "--run", "good.run", "bad.run")
    (line,) = [line for line in found.out.splitlines() if line.startswith("good is at ")]
    assert all(part in line for part in ("1.000, 110% of", "above the", "by 0.092."))
    assert "\nA run can" in found.out
    assert found.out.index("good ") < found.out.index("bad ")


def test_a_run_near_the_ceiling_leaves_little(folder: Path, ringtrue: Callable[..., Any]) -> None:
    (folder / "near.json").write_text(with_matrix(matrix=[[1, 0], [0, 1]]))
    found = ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "near.json", "--run", "good.run")
    assert ("\nLittle is" in found.out, "always agree" in found.out) == (True, True)
    assert next(line for line in found.out.splitlines() if line.startswith("the ceiling")).split()[2] == "1.0000"


@pytest.mark.parametrize("form", ["table", "csv", "markdown", "latex", "json"])
def test_every_format_is_printed(folder: Path, ringtrue: Callable[..., Any], form: str) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "--run", "bad.run", "--format", form)
    assert ringtrue(*words).code == 0
    assert ringtrue(*words, "--per-query").code == 0


def test_csv_has_every_digit(folder: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "--run", "bad.run", "--format", "csv")
    head, first, second = ringtrue(*words).out.splitlines()
    assert head == "run,measure,value,se,low,high,n,ceiling,share"
    assert first.split(",")[:2] == ["the ceiling", "nDCG(dcg='exp-log2')"]
    assert float(first.split(",")[2]) == pytest.approx(TWO, abs=1e-15)
    assert second.startswith("bad,nDCG(dcg='exp-log2'),0.63092975")
    queries = ringtrue(*words, "--per-query").out.splitlines()
    assert queries[0] == "query,documents,ceiling,bad"
    assert queries[3] == "q3,1,,"


def test_per_query_in_json(folder: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "--run", "bad.run", "--json", "--per-query")
    answer = ringtrue(*words).json["per_query"]
    assert answer["q1"]["ceiling"] == pytest.approx(TWO)
    assert answer["q1"]["runs"]["bad"] == pytest.approx(1 / math.log2(3))
    assert answer["q3"] == {"documents": 1, "ceiling": None, "runs": {}}


@pytest.mark.parametrize("method", ["simulation", "closed-form"])
def test_the_papers_methods_are_there(folder: Path, ringtrue: Callable[..., Any], method: str) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "--method", method, "--seed", "1")
    answer = ringtrue(*words, "--json").json
    assert answer["method"] == method
    assert answer["ceiling"]["value"] == pytest.approx(TWO, abs=0.05)
    if method == "simulation":
        assert ringtrue(*words, "--json").json == answer
        assert answer["simulated_se"] > 0
        assert "simulated, " in ringtrue(*words).out
    else:
        assert "closed-form-short-lists" in answer["note_codes"]


def test_gain_and_cutoff_reach_the_library(folder: Path, ringtrue: Callable[..., Any]) -> None:
    (folder / "g.qrels").write_text("q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 1\n")
    (folder / "g.json").write_text(
        with_matrix(labels=[0, 1, 2], matrix=[[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0, 0.3, 0.7]])
    )
    words = ("ceiling", "--judgments", "g.qrels", "--confusion", "g.json", "--json")
    table, labels = rt.read_confusion("g.json"), rt.read_judgments("g.qrels")
    for extra, given in ((("--gain", "linear"), {"gain": "linear"}), (("-k", "2"), {"k": 2})):
        answer = ringtrue(*words, *extra).json
        assert answer["ceiling"]["value"] == rt.ceiling(labels, table, **given).estimate.value
    assert answer["measure"] == "nDCG(dcg='exp-log2')@2"
    (folder / "gains.json").write_text('{"gains": {"0": 0, "1": 0.3, "2": 1}}')
    answer = ringtrue(*words, "--gains", "gains.json").json
    assert answer["ceiling"]["value"] == rt.ceiling(labels, table, gain={1: 0.3, 2: 1.0}).estimate.value
    assert ringtrue(*words, "--gains", "gains.json", "--gain", "exp").code == 2


def test_a_matrix_is_estimated_from_labels_and_written_for_all_commands(
    folder: Path, ringtrue: Callable[..., Any]
) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--labels", "labels.csv")
    answer = ringtrue(*words, "--confusion-out", "out.json", "--json").json
    assert (answer["confusion"]["rows"], answer["confusion"]["columns"]) == ("testing judge", "training judge")
    again = ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "out.json", "--json").json
    pooled = ringtrue(*words, "--pooled", "--json").json["ceiling"]
    assert again["ceiling"] == pooled
    (folder / "printed.json").write_text(json.dumps(answer))
    printed = ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "printed.json", "--json").json
    assert printed["ceiling"] == pooled
    assert " out.json" in ringtrue(*words, "--confusion-out", "out.json").out


@pytest.mark.parametrize("command", ["judges", "aggregate"])
def test_a_matrix_of_other_commands_is_read(folder: Path, ringtrue: Callable[..., Any], command: str) -> None:
    (folder / "gold.csv").write_text(
        "query,doc,label\n" + "".join(f"q{q},d{d},{d % 2}\n" for q in range(4) for d in range(4))
    )
    words = ("labels.csv", "--gold", "gold.csv", "--confusion-out", "out.json", "--json")
    answer = ringtrue(command, *words).json
    counts = rt.read_confusion("out.json").counts
    assert counts.sum() == pytest.approx(32, abs=1)
    (note,) = [note for note in answer["notes"] if " out.json: " in note]
    assert ("of 2 judges" in note, answer["note_codes"][answer["notes"].index(note)]) == (True, "matrix-written")
    assert ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "out.json").code == 0


def test_a_matrix_with_a_testing_judge_corrects_as_one_with_gold_does(
    folder: Path, ringtrue: Callable[..., Any]
) -> None:
    (folder / "mine.json").write_text(with_matrix(counts=[[80, 20], [30, 70]]))
    (folder / "gold.json").write_text(with_matrix(counts=[[80, 20], [30, 70]], rows="gold", columns="bronze"))
    words = ("evaluate", "good.run", "--judgments", "j.qrels", "-m", "P@1", "--json", "--gold")
    mine, gold = (ringtrue(*words, name) for name in ("mine.json", "gold.json"))
    assert mine.code == 0
    assert mine.json["corrected"] == gold.json["corrected"]


def test_preferences_have_no_matrix(folder: Path, ringtrue: Callable[..., Any]) -> None:
    (folder / "p.csv").write_text("query,left,right,judge,winner\nq,a,b,x,left\nq,a,b,y,left\n")
    for command in ("judges", "aggregate"):
        assert ringtrue(command, "p.csv", "--confusion-out", "out.json", "--json").stop == (
            2,
            "unused-parameter",
            "confusion_out",
        )


def test_sides_by_name_and_gold(folder: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--labels", "labels.csv", "--json")
    named = ringtrue(*words, "--testing", "ann", "--training", "bob").json
    assert [name in named["orientation"] for name in ("judge (ann),", "judge (bob)")] == [True] * 2
    (folder / "gold.csv").write_text(
        "query,doc,label\n" + "".join(f"q{q},d{d},{d % 2}\n" for q in range(4) for d in range(4))
    )
    gold = ringtrue(*words, "--gold", "gold.csv").json
    assert gold["confusion"]["rows"] == "gold"
    assert "judge (gold)," in gold["orientation"]
    (folder / "named.csv").write_text((folder / "gold.csv").read_text().replace("label", "mark"))
    same = ringtrue(*words, "--gold", "named.csv", "--gold-columns", "label=mark").json
    assert same["ceiling"] == gold["ceiling"]
    without = ringtrue(*words, "--gold", "named.csv")
    assert without.stop == (1, "missing-column", None)
    assert without.error["message"].startswith("named.csv: ")
    assert "--gold-columns" in without.error["message"]


def test_a_matrix_of_judges_who_are_not_the_testing_judge_is_doubted(
    folder: Path, ringtrue: Callable[..., Any]
) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--labels", "labels.csv", "--json")
    own = ("ceiling", "--judgments", "labels.csv", "--judge", "ann", "--labels", "labels.csv", "--json")
    found = [ringtrue(*called).notes for called in (words, (*words, "--testing", "ann"), own)]
    assert ["other-testing-judge" in codes for codes in found] == [True, False, False]


def test_each_query_has_a_matrix_of_its_own_unless_one_is_asked_for(folder: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("ceiling", "--judgments", "labels.csv", "--judge", "ann", "--labels", "labels.csv")
    own, pooled = ringtrue(*words, "--json").json, ringtrue(*words, "--pooled", "--json").json
    assert (own["pooled"], own["own_matrices"], own["shrinkage"]) == (False, 4, 5.0)
    assert (pooled["pooled"], pooled["own_matrices"], pooled["shrinkage"]) == (True, 0, None)
    assert own["confusion"] == pooled["confusion"]
    # Bob says the same as Ann on two of four queries, and the opposite on the other two.
    queries = ringtrue(*words, "--json", "--per-query").json["per_query"]
    assert queries["q0"]["ceiling"] > pooled["ceiling"]["value"] > queries["q1"]["ceiling"]
    assert ["pooled-matrix" in found["note_codes"] for found in (pooled, own)] == [True, False]
    screen, pooled_screen = ringtrue(*words).out, ringtrue(*words, "--pooled").out
    assert all(part in screen for part in ("4 of 4 queries", "counts + 5 × its"))
    assert (screen.count("exceed"), pooled_screen.count("exceed")) == (0, 2)


def test_the_scatter_has_a_point_for_each_pair_and_query(folder: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--labels", "labels.csv", "--scatter")
    answer = ringtrue(*words, "--json").json["scatter"]
    assert len(answer["points"]) == 8
    assert list(answer["points"][0]) == ["training", "testing", "query", "documents", "real", "predicted"]
    assert answer["difference"]["value"] == pytest.approx(sum(p["real"] - p["predicted"] for p in answer["points"]) / 8)
    lines = ringtrue(*words, "--format", "csv").out.splitlines()
    assert lines[0] == "training,testing,query,documents,real,predicted"
    assert len(lines) == 9
    assert "real − predicted" in ringtrue(*words).out
    one_for_all = ringtrue(*words, "--confusion", "m.json", "--json").json
    assert one_for_all["ceiling"]["value"] == pytest.approx(TWO)


@pytest.fixture
def deep(folder: Path) -> Path:
    """Judgments of 20 documents a query, of which two judges labelled four."""
    lines = [f"q{q} 0 d{d} {int(d < 4 and d % 2)}" for q in range(4) for d in range(20)]
    (folder / "deep.qrels").write_text("\n".join(lines) + "\n")
    (folder / "deep.run").write_text("".join(f"q{q} Q0 d{d} {d} {9 - d} x\n" for q in range(4) for d in range(5)))
    return folder


def test_a_matrix_of_few_documents_is_told_and_nothing_is_concluded(deep: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("ceiling", "--judgments", "deep.qrels", "--labels", "labels.csv", "--gold", "deep.qrels")
    all_judged, shallow = (ringtrue(*words, *more, "--json").json for more in ((), ("--only-labelled",)))
    assert [(found["documents"], found["covered"]) for found in (all_judged, shallow)] == [(80, 16), (16, 16)]
    assert ["stretched-matrix" in found["note_codes"] for found in (all_judged, shallow)] == [True, False]
    assert any("--only-labelled" in note for note in all_judged["notes"])
    assert all_judged["confusion"] == shallow["confusion"]
    concluded = [ringtrue(*words, *more).out for more in ((), ("--only-labelled",))]
    assert ["disagreement costs" in out for out in concluded] == [False, True]
    assert ["the note" in out for out in concluded] == [True, False]
    below = ringtrue(*words, "deep.run").out
    assert ("That much" in below, "matrix says" in below or "the note" in below) == (False, True)
    (deep / "other.csv").write_text(LABELS.replace(",d", ",x").replace("xoc", "doc"))
    nothing = ringtrue("ceiling", "--judgments", "deep.qrels", "--labels", "other.csv", "--only-labelled", "--json")
    assert nothing.stop == (1, "no-common-document", None)


def test_only_documents_behind_the_matrix_are_kept(deep: Path, ringtrue: Callable[..., Any]) -> None:
    with (deep / "labels.csv").open("a") as file:
        file.write("".join(f"q{q},d{d},ann,0\n" for q in range(4) for d in range(4, 20)))  # of one judge alone
    words = ("ceiling", "--judgments", "deep.qrels", "--labels", "labels.csv", "--only-labelled", "--json")
    assert ringtrue(*words).json["documents"] == 16
    assert ringtrue(*words, "--testing", "ann", "--training", "bob").json["documents"] == 16
    assert ringtrue(*words, "--gold", "deep.qrels").json["documents"] == 80


def test_unjudged_documents_are_not_sold_as_room(folder: Path, ringtrue: Callable[..., Any]) -> None:
    (folder / "new.run").write_text("".join(f"q{q} Q0 n{d} {d} {9 - d} x\n" for q in (1, 2) for d in range(3))
                                    + "q1 Q0 d1 4 1 x\nq2 Q0 d1 4 1 x\n")  # fmt: skip
    words = ("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "new.run", "-k", "4")
    answer = ringtrue(*words, "--json")
    assert ("thinly-judged-runs" in answer.notes, ": new 25%" in answer.err) == (True, True)
    out = ringtrue(*words).out
    assert ("That much" in out, "Only 25% of" in out) == (False, True)


def test_the_caption_says_which_gains_and_which_level(folder: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("ceiling", "--judgments", "j.qrels", "--confusion", "m.json", "-k", "10", "--level", "0.9")
    assert "90% interval" in ringtrue(*words).out
    assert " 2^label − 1; " in ringtrue(*words).out
    assert "gains are" not in ringtrue(*words, "--gain", "linear").out


def test_a_matrix_without_names_is_of_a_testing_and_a_training_judge(
    folder: Path, ringtrue: Callable[..., Any]
) -> None:
    plain = {key: MATRIX[key] for key in ("labels", "matrix")}
    (folder / "plain.json").write_text(json.dumps(plain))
    words = ("ceiling", "--judgments", "j.qrels", "--json", "--confusion")
    answer = ringtrue(*words, "plain.json").json
    assert (answer["confusion"]["rows"], answer["confusion"]["columns"]) == ("testing judge", "training judge")
    (folder / "half.json").write_text(json.dumps(plain | {"columns": "crowd"}))
    assert ringtrue(*words, "half.json").json["confusion"]["columns"] == "crowd"
    (folder / "none.json").write_text("{}")
    nothing = ringtrue(*words, "none.json")
    assert nothing.stop == (1, "bad-confusion", None)
    assert '{"rows": ' in nothing.error["message"]


def test_a_matrix_of_somebody_else_is_told(folder: Path, ringtrue: Callable[..., Any]) -> None:
    (folder / "theirs.json").write_text(with_matrix(rows="consensus", columns="all judges"))
    words = ("ceiling", "--judgments", "j.qrels", "--json", "--confusion")
    theirs = ringtrue(*words, "theirs.json")
    assert "matrix-of-others" in theirs.notes
    assert "theirs.json: " in theirs.err
    assert all(name in theirs.err for name in ("'all judges'", "'consensus'"))
    (folder / "gold.json").write_text(with_matrix(rows="gold", columns="crowd"))
    (folder / "own.json").write_text(with_matrix(rows="0", columns="crowd"))  # the judge of j.qrels
    for name in ("m.json", "gold.json", "own.json"):
        assert "matrix-of-others" not in ringtrue(*words, name).notes


def test_pairs_that_are_far_off_come_first_and_all_that_were_asked_for(
    folder: Path, ringtrue: Callable[..., Any]
) -> None:
    # Twelve judges: more pairs, both ways, than are usually shown.
    lines = [f"q{q},d{d},w{w:02d},{int((d + q * w) % 3 == 0)}" for q in range(12) for d in range(4) for w in range(12)]
    (folder / "many.csv").write_text("\n".join(["query,doc,judge,label", *lines]) + "\n")
    words = ("ceiling", "--judgments", "j.qrels", "--labels", "many.csv", "--scatter")
    usual, asked = ringtrue(*words).out, ringtrue(*words, "--pairs", "66").out
    assert ("82 more pairs" in usual, "more pairs" in asked) == (True, False)
    shown = [line.split() for line in asked.splitlines() if line.startswith(("w0", "w1"))]
    assert len(shown) == 132
    apart = [abs(float(row[-1].replace("−", "-"))) for row in shown if int(row[2]) >= 10]
    assert apart == sorted(apart, reverse=True)
    assert {row[3] for row in shown} == {"4.0"}
    assert "about 4 documents" in asked


def test_a_table_without_queries_is_one_list_with_a_note(folder: Path, ringtrue: Callable[..., Any]) -> None:
    (folder / "one.csv").write_text("item,truth\na,1\nb,0\n")
    answer = ringtrue(
        "ceiling", "--judgments", "one.csv", "--columns", "label=truth", "--confusion", "m.json", "--json"
    ).json
    assert answer["queries"] == 1
    assert answer["note_codes"] == ["no-query-column", "pooled-matrix"]
    assert answer["notes"][0].startswith("one.csv: ")
    assert answer["ceiling"]["note_codes"] == ["single-query"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"matrix": [[0.8, 0.4], [0.3, 0.7]]},
         ("unnormalised-confusion", None)),
        ({"matrix": [[0.8, 0.2]]}, ("bad-confusion-shape", None)),
        ({"matrix": [[1.2, -0.2], [0.3, 0.7]]}, ("bad-confusion-cell", None)),
        ({"rows": "training judge", "columns": "testing judge"}, ("turned-confusion", None)),
        ({"rows": "bronze", "columns": "gold"}, ("turned-confusion", None)),
        ({"labels": [1, 2]}, ("labels-outside-matrix", None)),
        ({"counts": [[8, 2], [0, 0]], "matrix": [[0.8, 0.2], [None, None]]},
         ("unknown-matrix-row", None)),
    ],
)  # fmt: skip
def test_a_bad_matrix_is_refused(
    folder: Path, ringtrue: Callable[..., Any], changed: dict[str, Any], error: tuple[str, str | None]
) -> None:
    (folder / "bad.json").write_text(with_matrix(**changed))
    found = ringtrue("ceiling", "--judgments", "j.qrels", "--confusion", "bad.json", "--json")
    assert found.stop == (1, *error)
    assert found.err.count("\n") == 1


def test_rows_are_renormalised_on_request(folder: Path, ringtrue: Callable[..., Any]) -> None:
    (folder / "loose.json").write_text(with_matrix(matrix=[[1.6, 0.4], [0.3, 0.7]]))
    words = ("ceiling", "--judgments", "j.qrels", "--confusion", "loose.json", "--json")
    assert ringtrue(*words).code == 1
    assert ringtrue(*words, "--renormalise").json["ceiling"]["value"] == pytest.approx(TWO)


def test_one_judge_tells_nothing(folder: Path, ringtrue: Callable[..., Any]) -> None:
    (folder / "ann.csv").write_text("query,doc,judge,label\nq1,d1,ann,1\nq1,d2,ann,0\n")
    found = ringtrue("ceiling", "--judgments", "j.qrels", "--labels", "ann.csv", "--json")
    assert found.stop == (1, "one-judge", None)
    assert (found.error["message"].startswith("ann.csv: "), "('ann')" in found.error["message"]) == (True, True)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((), ("needs-parameter", "confusion")),
        (("--confusion", "m.json", "--labels", "labels.csv"), ("conflicting-parameters", "labels")),
        (("--confusion", "m.json", "--scatter"), ("unused-parameter", "scatter")),
        (("--confusion", "m.json", "--testing", "ann"), ("unused-parameter", "testing")),
        (("--confusion", "m.json", "--labels", "labels.csv", "--scatter", "--testing", "ann"),
         ("unused-parameter", "testing")),
        (("--labels", "labels.csv", "--renormalise"), ("unused-parameter", "renormalise")),
        (("--labels", "labels.csv", "--testing", "an"), ("unknown-judge", "testing")),
        (("--confusion", "m.json", "--method", "exakt"), ("bad-value", "method")),
        (("--labels", "labels.csv", "--label-columns", "label=mark"), ("unknown-column", "label_columns")),
        (("--confusion", "m.json", "--draws", "10"), ("unused-parameter", "draws")),
        (("--labels", "labels.csv", "--pairs", "3"), ("unused-parameter", "pairs")),
        (("--confusion", "m.json", "--only-labelled"), ("unused-parameter", "only_labelled")),
        (("--confusion", "m.json", "--pooled"), ("unused-parameter", "pooled")),
        (("--confusion", "-", "--run", "-"), ("input-read-twice", None)),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(
    folder: Path, ringtrue: Callable[..., Any], words: tuple[str, ...], error: tuple[str, str | None]
) -> None:
    assert ringtrue("ceiling", "--judgments", "j.qrels", *words, "--json").stop == (2, *error)


def test_csv_is_one_table(folder: Path, ringtrue: Callable[..., Any]) -> None:
    words = ("--labels", "labels.csv", "--scatter", "--per-query", "--format", "csv")
    found = ringtrue("ceiling", "--judgments", "j.qrels", *words)
    assert (found.code, found.out, "--per-query" in found.err) == (2, "", True)


def test_documents_with_two_labels_are_told_with_their_lines(folder: Path, ringtrue: Callable[..., Any]) -> None:
    found = ringtrue("ceiling", "--judgments", "labels.csv", "--confusion", "m.json", "--json")
    assert found.stop == (1, "several-judges", None)
    assert ("--judge" in found.error["message"], "average" in found.error["message"]) == (True, False)
    assert ringtrue("ceiling", "--judgments", "labels.csv", "--judge", "ann", "--confusion", "m.json").code == 0
