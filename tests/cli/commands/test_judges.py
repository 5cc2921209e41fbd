"""`ringtrue judges`: the contract that scripts rely on, and what people read."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

ESTIMATE = ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]
KEYS = [
    "judge", "labels", "items", "accuracy", "against", "others_accuracy", "chance", "gold_accuracy",
    "consensus_accuracy", "confusion", "leniency", "self_consistency", "traps", "speed", "side_bias", "drift",
    "common_label", "common_share", "flags", "notes", "note_codes",
]  # fmt: skip


@pytest.fixture
def crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four judges and thirty documents: ann, bob and cid agree on most, eve always says 2, and in no time."""
    lines = ["query,doc,judge,label,seconds,batch,mood"]
    for doc in range(30):
        truth = [0, 1, 0, 0, 2][doc % 5]
        for place, judge in enumerate(("ann", "bob", "cid")):
            label = (truth + 1) % 3 if (doc + 3 * place) % 11 == 0 else truth
            lines.append(f"q{doc // 5},d{doc},{judge},{label},{10 + (doc * 7 + place) % 9},{doc // 15},glad")
        lines.append(f"q{doc // 5},d{doc},eve,2,1,{doc // 15},glad")
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    gold = [f"q{doc // 5},d{doc},{[0, 1, 0, 0, 2][doc % 5]}" for doc in range(0, 30, 2)]
    (tmp_path / "gold.csv").write_text("\n".join(["query,doc,label", *gold]) + "\n")
    traps = [f"q{doc // 5},d{doc},0" for doc in (0, 2, 3, 5, 7, 8, 10, 12, 15, 17)]
    (tmp_path / "traps.csv").write_text("\n".join(["query,doc,label", *traps]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_has_every_judge_and_all_of_them_together(crowd: Path, ringtrue) -> None:
    answer = ringtrue("judges", "labels.csv", "--gold", "gold.csv", "--json")
    assert (answer.code, list(answer.json)) == (0, ["judges", "overall", "notes", "note_codes"])
    judges = {one["judge"]: one for one in answer.json["judges"]}
    assert list(judges) == ["ann", "bob", "cid", "eve"]
    assert list(judges["eve"]) == KEYS
    assert list(judges["eve"]["accuracy"]) == ESTIMATE
    assert judges["eve"]["confusion"]["rows"] == "gold"
    assert judges["eve"]["speed"] == {"median": 1.0, "n": 30, "source": "seconds"}
    assert list(judges["eve"]["flags"][0]) == ["kind", "reason", "p_adjusted", "effect"]
    assert answer.json["overall"]["flagged"] == ["eve"]


def test_traps_and_the_rule_of_acceptance(crowd: Path, ringtrue) -> None:
    answer = ringtrue("judges", "labels.csv", "--traps", "traps.csv", "--accept", "4/5", "--json")
    traps = {one["judge"]: one["traps"] for one in answer.json["judges"]}
    assert list(traps["eve"]) == ["passed", "n", "rate", "accepted", "batches", "guessing_accepted"]
    assert (traps["eve"]["passed"], traps["eve"]["n"], traps["eve"]["accepted"], traps["eve"]["batches"]) == (
        0,
        10,
        0,
        2,
    )
    assert traps["bob"]["accepted"] == 2
    assert ("accept-rule" in answer.notes, "4 of 5 traps" in answer.err) == (True, True)
    mild = ringtrue("judges", "labels.csv", "--traps", "traps.csv", "--json")
    assert ("accept-rule" in mild.notes, "--accept 4/5" in mild.err) == (True, True)


def test_the_table_says_who_why_and_what_then(crowd: Path, ringtrue) -> None:
    answer = ringtrue("judges", "labels.csv", "--gold", "gold.csv")
    lines = answer.out.splitlines()
    assert lines[0].split() == [
        "judge",
        "flags",
        "labels",
        "accuracy",
        "95%",
        "CI",
        "others",
        "lenient",
        "seconds",
        "mostly",
    ]
    assert lines[2].startswith("eve ")
    assert all(part in answer.out for part in ("one label: ", "100% of 30 labels", "this judge: ", " At eve:"))
    assert max(map(len, lines)) <= 100


def test_columns_without_data_are_left_out_and_good_judges_are_not_named(crowd: Path, ringtrue) -> None:
    answer = ringtrue("judges", "labels.csv", "--where", "judge!=eve")
    assert "flags" not in answer.out.splitlines()[0]
    assert all(part in answer.out.splitlines()[-1] for part in ("Nobody", "3 judges"))


def test_csv_has_a_row_for_each_judge_with_every_digit(crowd: Path, ringtrue) -> None:
    rows = list(csv.DictReader(io.StringIO(ringtrue("judges", "labels.csv", "--format", "csv").out)))
    assert [row["judge"] for row in rows] == ["ann", "bob", "cid", "eve"]
    assert float(rows[3]["common_share"]) == 1
    assert rows[3]["flags"].split("; ")[:2] == ["guessing", "one label"]
    assert rows[0]["gold_accuracy"] == ""


def test_many_judges_are_cut_in_the_table_and_counted(crowd: Path, ringtrue) -> None:
    rows = [f"i{item},w{judge},{(item + (judge == item % 40)) % 2}" for judge in range(40) for item in range(20)]
    (crowd / "many.csv").write_text("\n".join(["item,worker,label", *rows]) + "\n")
    answer = ringtrue("judges", "many.csv")
    assert "20 more judges" in answer.out
    assert len(ringtrue("judges", "many.csv", "--format", "csv").out.splitlines()) == 41


def test_preferences_go_the_same_way(crowd: Path, ringtrue) -> None:
    rows = [f"q,a{pair},b{pair},{judge},{'left' if judge == 'z' or pair % 2 else 'right'}"
            for pair in range(20) for judge in "xyz"]  # fmt: skip
    (crowd / "pairs.csv").write_text("\n".join(["query,left,right,judge,winner", *rows]) + "\n")
    answer = ringtrue("judges", "pairs.csv", "--json")
    assert [one["side_bias"]["left"]["value"] for one in answer.json["judges"]] == [0.5, 0.5, 1.0]
    table = ringtrue("judges", "pairs.csv").out
    assert "\nleft: " in table
    assert "mostly" not in table


@pytest.mark.parametrize(
    ("words", "stop"),
    [
        (["--traps", "labels.csv", "--accept", "6/5"], (2, "bad-value", "accept")),
        (["--traps", "traps.csv", "--accept", "most"], (2, "bad-value", "accept")),
        (["--traps", "none.csv"], (1, "no-such-file", None)),
        (["--traps", "far.csv"], (1, "no-trap-met", None)),
        (["--gold", "far.csv"], (1, "gold-unlabelled", None)),
        (["--gold", "-", "--traps", "-"], (2, "input-read-twice", None)),
        (["--columns", "seconds=mood"], (1, "bad-seconds", None)),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    crowd: Path, ringtrue, words: list[str], stop: tuple[int, str, str | None]
) -> None:
    (crowd / "far.csv").write_text("query,doc,label\nz,z,1\n")
    answer = ringtrue("judges", "labels.csv", *words, "--json")
    assert answer.stop == stop
    assert answer.err.count("\n") == 1


def test_one_judge_alone_is_reported_on_where_labels_were_timed(crowd: Path, ringtrue) -> None:
    answer = ringtrue("judges", "labels.csv", "--where", "judge=ann", "--json")
    assert answer.code == 0
    assert "one-judge" in answer.notes
    (crowd / "alone.csv").write_text("item,worker,label\na,ann,1\nb,ann,0\n")
    answer = ringtrue("judges", "alone.csv", "--json")
    assert answer.stop == (1, "nothing-to-check", None)
    assert answer.err.count("\n") == 1
    assert all(part in answer.error["message"] for part in ("'ann'", "--gold"))


def test_a_judge_who_labelled_twice_is_told_with_rows(crowd: Path, ringtrue) -> None:
    (crowd / "twice.csv").write_text("item,worker,label\na,x,1\na,x,0\na,y,1\n")
    answer = ringtrue("judges", "twice.csv", "--json")
    assert (answer.stop, "(rows 1, 2)" in answer.error["message"]) == ((1, "repeated-labels", "repeats"), True)
    assert ringtrue("judges", "twice.csv", "--repeats", "all").code == 0


@pytest.mark.real
def test_models_as_judges_with_labels_outside_the_scale(data: Path, ringtrue) -> None:
    path = str(data / "llmjudge/labels.csv")
    answer = ringtrue(
        "judges", path, "--gold", path, "--gold-columns", "label=human", "--scale", "0-3", "--outside", "clip", "--json"
    )  # fmt: skip
    assert len(answer.json["judges"]) == 33
    assert len(answer.json["overall"]["flagged"]) < 10


@pytest.mark.real
def test_a_crowd_with_settings_in_a_column(data: Path, ringtrue) -> None:
    answer = ringtrue(
        "judges", str(data / "nyt17/pilot_labels.csv"), "--where", "experiment=3P-Doc-High", "--gold",
        str(data / "nyt17/pilot_docs.csv"), "--gold-columns", "label=nist_rel", "--repeats", "first",
    )  # fmt: skip
    assert answer.code == 0
    assert "c67 " in answer.out


def test_several_files_of_labels_count_together(crowd: Path, ringtrue) -> None:
    header, *rows = Path("labels.csv").read_text().splitlines()
    for name, some in (("one.csv", rows[:50]), ("two.csv", rows[50:])):
        Path(name).write_text("\n".join([header, *some]) + "\n")
    for command in (("judges", "--traps", "traps.csv"), ("agree",), ("aggregate",)):
        several = ringtrue(command[0], "one.csv", "two.csv", *command[1:], "--json")
        assert several.json == ringtrue(command[0], "labels.csv", *command[1:], "--json").json
    assert ringtrue("aggregate", "one.csv", "two.csv", "-o", "two.csv", "--json").stop == (
        2,
        "overwrites-input",
        "output",
    )
    levels = ("--at-least", "1/3", "--levels", "0,1,2", "--json")
    assert ringtrue("disagreement", "one.csv", "two.csv", *levels).stop == (2, "conflicting-parameters", "labels")
