"""How files fit together, who plays which part, and what can be asked."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import ringtrue as rt
from ringtrue.doctor.diagnose import explain_id_mismatch
from ringtrue.messages import Call

DOCS = range(1, 13)


def write(folder: Path, name: str, lines: list[str]) -> str:
    (folder / name).write_text("\n".join(lines) + "\n")
    return name


def run(folder: Path, name: str, *, query: str = "q{}", doc: str = "d{}", shift: int = 0, queries: int = 4) -> str:
    lines = [
        f"{query.format(q)} Q0 {doc.format(d + shift)} {d} {50 - d} t" for q in range(1, queries + 1) for d in DOCS
    ]
    return write(folder, name, lines)


def qrels(folder: Path, name: str, *, query: str = "q{}", doc: str = "d{}", top: int = 1, salt: int = 0) -> str:
    labels = [(q, d, (q * d + salt) % (top + 1)) for q in range(1, 5) for d in range(1, 25)]
    return write(folder, name, [f"{query.format(q)} 0 {doc.format(d)} {label}" for q, d, label in labels])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notes(found: rt.Checkup, path: str) -> dict[str, rt.Note]:
    """The notes on a file, by their codes."""
    return {note.code: note for file in found.files if file.path == path for note in file.notes}


def calls(found: rt.Checkup) -> dict[str, Call]:
    return {one.verb: one.call for one in found.can}


def missing(found: rt.Checkup) -> dict[str, str]:
    """The codes of what is missing, by verb."""
    return {one.verb: one.obstacle.reason.code for one in found.cannot}


def test_every_question_is_answered_once_with_a_command_or_with_what_is_missing(here: Path) -> None:
    found = rt.examine([run(here, "a.run"), qrels(here, "j.qrels")])
    verbs = [one.verb for one in (*found.can, *found.cannot)]
    assert sorted(verbs) == sorted(
        ["report", "evaluate", "evaluate gold", "compare", "compare gold", "stability", "curve", "ceiling", "agree",
         "judges", "aggregate", "disagreement", "rate", "sample", "plan", "pool", "pairs", "serve"]
    )  # fmt: skip
    assert all(one.todo for one in found.cannot)


def test_a_run_and_judgments_share_queries_and_documents(here: Path) -> None:
    found = rt.examine([run(here, "a.run", shift=20, queries=6), qrels(here, "j.qrels")])
    (one,) = found.overlaps
    assert (one.queries, one.not_judged, one.not_run, one.top, one.judged) == (4, 2, 0, 40, 16)
    assert set(notes(found, "a.run")) == {"queries-not-judged", "few-judged"}
    assert "q5, q6" in notes(found, "a.run")["queries-not-judged"]


@pytest.mark.parametrize(
    ("query", "doc", "code", "ids"),
    [
        ("Q{}", "d{}", "no-common-query", ("'Q1'", "'q1'")),
        ("{}", "d{}", "no-common-query", ("'1'", "'q1'")),
        ("00{}", "d{}", "no-common-query", ("'001'", "'q1'")),
        ("q{}", "D{}", "none-judged", ("'D1'", "'d1'")),
        ("topic-x{}y", "d{}", "no-common-query", ("'topic-x1y'", "'q1'")),
    ],
)
def test_ids_that_never_match_are_told_with_one_of_each_side(
    query: str, doc: str, code: str, ids: tuple[str, str], here: Path
) -> None:
    found = rt.examine([run(here, "a.run", query=query, doc=doc), qrels(here, "j.qrels")])
    note = notes(found, "a.run")[code]
    assert all(one in note for one in (*ids, "j.qrels"))
    if query != "q{}":
        assert missing(found)["evaluate"] == "needs-common-queries"
        assert "evaluate" not in calls(found)


def test_a_run_of_other_queries_is_left_out_of_the_commands(here: Path) -> None:
    found = rt.examine([run(here, "a.run"), run(here, "x.run", query="other{}"), qrels(here, "j.qrels")])
    assert calls(found)["evaluate"] == Call("evaluate", ("a.run",), {"judgments": "j.qrels"})
    assert missing(found)["compare"] == "needs-two-runs"


def test_a_copy_of_a_run_is_told(here: Path) -> None:
    found = rt.examine([run(here, "a.run"), run(here, "b.run"), run(here, "c.run", shift=1)])
    assert list(notes(found, "b.run")) == ["copied-run"]
    assert "a.run" in notes(found, "b.run")["copied-run"]
    assert not notes(found, "a.run") | notes(found, "c.run")


def test_the_trusted_judge_is_told_by_name_and_bronze_is_another(here: Path) -> None:
    runs = [run(here, "a.run"), run(here, "b.run", shift=1)]
    found = rt.examine([*runs, qrels(here, "llm.qrels", salt=1), qrels(here, "human.qrels")])
    assert {file.path: file.role for file in found.files if file.role} == {"llm.qrels": "bronze", "human.qrels": "gold"}
    assert calls(found)["evaluate"].arguments == {"judgments": "human.qrels"}
    assert calls(found)["stability"].arguments == {"judgments": "human.qrels", "versus": "llm.qrels"}
    assert calls(found)["agree"] == Call("agree", ("llm.qrels",), {"gold": "human.qrels"})
    assert missing(found)["evaluate gold"] == "needs-gold-design"


def test_scales_of_different_length_count_from_their_upper_half(here: Path) -> None:
    runs = [run(here, "a.run"), run(here, "b.run", shift=1)]
    found = rt.examine([*runs, qrels(here, "human.qrels", top=3), qrels(here, "llm.qrels")])
    assert calls(found)["stability"].arguments.items() >= {"rel": 2, "versus_rel": 1}.items()
    assert calls(found)["plan"].arguments.items() >= {"rel": 2, "bronze_rel": 1}.items()


def test_gold_that_says_what_bronze_says_is_doubted(here: Path) -> None:
    found = rt.examine([qrels(here, "gold.qrels"), qrels(here, "bronze.qrels")])
    note = notes(found, "gold.qrels")["copied-judgments"]
    assert all(part in note for part in ("bronze.qrels", "96"))


def test_a_judge_who_is_there_twice_is_told(here: Path) -> None:
    found = rt.examine([qrels(here, "one.qrels"), qrels(here, "two.qrels"), qrels(here, "other.qrels", salt=1)])
    assert "two.qrels" in notes(found, "one.qrels")["copied-judgments"]
    assert "copied-judgments" not in notes(found, "two.qrels") | notes(found, "other.qrels")


def test_gold_and_traps_that_no_judge_has_met_are_told(here: Path) -> None:
    write(here, "traps.csv", ["query,doc,label", "q1,D1,0", "q2,D2,1"])
    found = rt.examine([crowd(here, "crowd.csv", ("ann", "bo")), "traps.csv"])
    note = notes(found, "traps.csv")["no-common-document"]
    assert all(part in note for part in ("crowd.csv", "capital letters"))
    assert calls(found)["judges"] == Call("judges", ("crowd.csv",), {})


def test_runs_of_one_name_in_two_folders_are_two_runs(here: Path) -> None:
    for name in ("x", "y"):
        (here / name).mkdir()
    runs = [run(here, "x/bm25.run"), run(here, "y/bm25.run", shift=1)]
    gold = write(here, "gold.csv", [row.replace("0.5", "1") for row in gold_rows(range(1, 12))])
    found = rt.examine([*runs, qrels(here, "bronze.qrels"), gold])
    inputs = ("x/bm25.run", "y/bm25.run"), {"judgments": "bronze.qrels", "gold": "gold.csv"}
    assert calls(found)["evaluate gold"] == Call("evaluate", *inputs)
    assert calls(found)["compare gold"] == Call("compare", *inputs)


def test_a_sample_of_whole_queries_is_continued_by_whole_queries(here: Path) -> None:
    rows = [row.replace("pool_stratified", "whole_queries") for row in gold_rows(range(1, 25))[:49]]
    found = rt.examine([run(here, "a.run"), qrels(here, "bronze.qrels"), write(here, "gold.csv", rows)])
    continued = {"already": "gold.csv", "queries": 20, "measures": "nDCG@10"}
    assert calls(found)["sample"].arguments.items() >= continued.items()
    assert calls(found)["evaluate gold"].arguments["measures"] == "P@10,nDCG@10"


def test_labels_without_queries_are_not_held_against_runs(here: Path) -> None:
    write(here, "items.csv", ["item,worker,label", "d1,x,0", "d1,y,1", "d2,x,1"])
    found = rt.examine([run(here, "a.run"), "items.csv"])
    assert (found.overlaps, notes(found, "a.run")) == ((), {})
    assert calls(found)["agree"] == Call("agree", ("items.csv",), {})


def gold_rows(docs: range, label: str = "1") -> list[str]:
    head = "query,doc,prob,stratum,design,label"
    return [head, *(f"q{q},d{d},0.5,q{q},pool_stratified,{label}" for q in range(1, 5) for d in docs)]


def test_gold_that_is_not_from_the_runs_is_told_and_corrects_nothing(here: Path) -> None:
    write(here, "gold.csv", gold_rows(range(100, 105)))
    found = rt.examine([run(here, "a.run"), qrels(here, "bronze.qrels"), "gold.csv"])
    assert "20" in notes(found, "gold.csv")["gold-outside-runs"]
    assert missing(found)["evaluate gold"] == "gold-outside-runs"


def test_a_sample_that_waits_for_labels_is_what_blocks_the_correction(here: Path) -> None:
    write(here, "gold.csv", gold_rows(range(1, 6), label=""))
    found = rt.examine([run(here, "a.run"), qrels(here, "bronze.qrels"), "gold.csv"])
    assert missing(found)["evaluate gold"] == "needs-labels"
    needs = next(one.needs for one in found.cannot if one.verb == "evaluate gold")
    assert needs is not None
    assert all(part in needs for part in ("20", "gold.csv"))


def crowd(folder: Path, name: str, judges: tuple[str, ...], *, every: int = 1) -> str:
    rows = [f"q{q},d{d},{judge},{(q + d + len(judge)) % 3}" for q in range(1, 5) for d in range(1, 16)
            for place, judge in enumerate(judges) if (d + place) % every == 0]  # fmt: skip
    return write(folder, name, ["query,doc,judge,label", *rows])


def test_judges_who_labelled_the_same_are_averaged_and_others_come_to_one_label_first(here: Path) -> None:
    whole = rt.examine([run(here, "a.run"), crowd(here, "crowd.csv", ("ann", "bo"))])
    assert calls(whole)["evaluate"].arguments == {"judgments": "crowd.csv", "judges": "average"}
    parts = rt.examine([run(here, "a.run"), crowd(here, "few.csv", ("ann", "bo", "c", "dora"), every=2)])
    assert missing(parts)["evaluate"] == "needs-one-label"
    (call,) = next(one.obstacle.calls for one in parts.cannot if one.verb == "evaluate")
    assert (call.command, call.files) == ("aggregate", ("few.csv",))


def test_one_judge_alone_cannot_agree_and_plays_no_part(here: Path) -> None:
    found = rt.examine([qrels(here, "j.qrels")])
    assert found.files[0].role is None
    assert missing(found)["agree"] == "needs-second-judge"


def test_gains_that_lack_a_label_are_told(here: Path) -> None:
    files = [run(here, "a.run"), qrels(here, "j.qrels", top=3)]
    write(here, "gains.json", ['{"gains": {"0": 0, "1": 0.3, "2": 0.6, "3": 1}}'])
    assert calls(rt.examine([*files, "gains.json"]))["evaluate gains"].arguments["gains"] == "gains.json"
    write(here, "gains.json", ['{"gains": {"0": 0, "1": 1}}'])
    assert missing(rt.examine([*files, "gains.json"]))["evaluate gains"] == "needs-gain"


def test_topics_and_documents_that_lack_something_are_told(here: Path) -> None:
    write(here, "topics.csv", ["query,title", *(f"q{q},goldfish" for q in range(1, 4))])
    write(here, "docs.csv", ["doc,text", *(f"D{d},goldfish" for d in range(1, 30))])
    found = rt.examine([run(here, "a.run"), "topics.csv", "docs.csv"])
    assert list(notes(found, "topics.csv")) == ["missing-texts"]
    assert "q4" in notes(found, "topics.csv")["missing-texts"]
    assert all(one in notes(found, "docs.csv")["no-common-document"] for one in ("'d1'", "'D1'"))


def test_a_file_that_cannot_be_read_stops_nothing(here: Path) -> None:
    write(here, "broken.run", ["q1 Q0 d1 1 2 t", "q1 Q0 d1 2 1 t"])
    (here / "folder").mkdir()
    found = rt.examine([run(here, "a.run"), "broken.run", "no-such.run", "folder", "a.run"])
    assert [(file.path, file.kind) for file in found.files] == [
        ("a.run", "run"), ("broken.run", "run"), ("no-such.run", None), ("folder", None),
    ]  # fmt: skip
    codes = [None if file.error is None else file.error.code for file in found.files]
    assert codes == [None, "duplicate-document", "no-such-file", "is-a-folder"]
    assert found.recognised


def test_plain_data_have_each_call_as_data_and_as_a_front_end_writes_it(here: Path) -> None:
    found = rt.examine([run(here, "a.run"), qrels(here, "j.qrels")]).as_dict()
    evaluate = next(one for one in found["can"] if one["verb"] == "evaluate")
    assert evaluate["call"] == {"command": "evaluate", "files": ["a.run"], "arguments": {"judgments": "j.qrels"}}
    assert evaluate["command"] == "evaluate('a.run', judgments='j.qrels')"
    compare = next(one for one in found["cannot"] if one["verb"] == "compare")
    assert (compare["code"], compare["calls"]) == ("needs-two-runs", [])
    assert json.loads(json.dumps(found)) == found


def test_nothing_to_look_at_is_a_wrong_question() -> None:
    with pytest.raises(rt.UsageError) as refused:
        rt.examine([])
    assert refused.value.code == "no-files"


@pytest.mark.parametrize(
    ("one", "other", "differ_in"),
    [
        (["Q1", "Q2"], ["q2", "q1"], "capital letters"),
        (["007", "010"], ["7", "10"], "leading zeros"),
        (["MARCO_12", "MARCO_13"], ["13", "12"], "a prefix"),
        (["q007", "q010"], ["10", "7"], "a prefix and leading zeros"),
        (["a12.txt", "b13.txt"], ["a12", "b13"], "an ending"),
    ],
)
def test_what_ids_differ_in_is_told_with_one_of_each_side(one: list[str], other: list[str], differ_in: str) -> None:
    found = explain_id_mismatch(pl.Series(one), pl.Series(other))
    assert found is not None
    assert found.differ_in == differ_in
    assert (found.left_id, found.right_id) == (one[0], next(o for o in other if o.strip("0") and found.right_id == o))
    back = explain_id_mismatch(pl.Series(other), pl.Series(one))
    assert back is not None
    assert back.differ_in == differ_in


def test_ids_of_other_collections_are_not_alike() -> None:
    assert explain_id_mismatch(pl.Series(["301", "302", "303"]), pl.Series(["401", "402"])) is None
    assert explain_id_mismatch(pl.Series(["clueweb-a", "clueweb-b"]), pl.Series(["FBIS-x", "FBIS-y"])) is None


def test_a_chance_match_of_few_is_no_likeness() -> None:
    assert (
        explain_id_mismatch(pl.Series(["d1", "d2", "d3", "d4", "d5"]), pl.Series(["1", "20", "30", "40", "50"])) is None
    )
