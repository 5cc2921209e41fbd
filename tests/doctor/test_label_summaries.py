"""What is said about labels alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.doctor.label_summaries import summarise_labels
from ringtrue.doctor.roles import LabelFile, UnjudgedFile
from ringtrue.files.byte_source import Source
from ringtrue.messages import Note


def look(folder: Path, lines: list[str], name: str = "labels.csv") -> tuple[LabelFile | UnjudgedFile, list[Note]]:
    (folder / name).write_text("\n".join(lines) + "\n")
    notes: list[Note] = []
    return summarise_labels(Source(str(folder / name)), notes.append), notes


def crowd(rows: list[str]) -> list[str]:
    return ["query,doc,judge,label", *rows]


def test_labels_are_counted(tmp_path: Path) -> None:
    found, notes = look(tmp_path, crowd(["q1,d1,ann,2", "q1,d1,bob,1", "q1,d2,ann,0", "q2,d1,ann,1"]))
    assert isinstance(found, LabelFile)
    assert (found.shared_count, found.repeat_count, found.is_crowd, notes) == (1, 0, True, [])
    told = {name: found.counts[name] for name in ("labels", "queries", "documents", "judges", "by_several")}
    assert told == {"labels": 4, "queries": 2, "documents": 3, "judges": 2, "by_several": 1}
    assert found.counts["shares"] == {"0": 0.25, "1": 0.5, "2": 0.25}


@pytest.mark.parametrize(
    ("rows", "code", "value"),
    [
        (["q1,d1,ann,1", "q1,d2,ann,1"], "constant-labels", "1"),
        (["q1,d1,ann,1", "q1,d2,ann,2"], "no-label-0", "1"),
        (["q1,d1,ann,0", "q1,d2,ann,73"], "unusual-grades", "73"),
        (["q1,d1,ann,0", "q1,d2,ann,1", "q1,d3,ann,-2"], "unjudged-labels", "1"),
        (["q1,d1,ann,0", "q1,d2,ann,1", "q2,d1,ann,0"], "queries-without-relevant", "q2"),
        (["q1,d1,ann,0", "q1,d1,ann,1"], "repeated-labels", "1"),
        ([*(f"q1,d{n},ann,{n % 2}" for n in range(9)), "q1,d1,bob,1", "q1,d1,cid,0"], "dominant-judge", "82%"),
        ([f"q1,d{n},{j},{n % 2 if j == 'ann' else 1}" for n in range(12) for j in ("ann", "eve")],
         "constant-judges", "eve"),
    ],
)  # fmt: skip
def test_what_is_odd_about_labels_is_told(rows: list[str], code: str, value: str, tmp_path: Path) -> None:
    _, notes = look(tmp_path, crowd(rows))
    assert value in next(note for note in notes if note.code == code)


def test_a_stray_label_is_told_without_arguments_of_other_commands(tmp_path: Path) -> None:
    rows = [f"q1,d{n},ann,{n % 4}" for n in range(2000)]
    _, notes = look(tmp_path, crowd([*rows, "q1,d9999,ann,9"]))
    assert [(note.code, note.suggestions) for note in notes] == [("stray-labels", ())]


def test_a_column_that_tells_parts_apart_is_named_where_labels_repeat(tmp_path: Path) -> None:
    rows = [f"{part},q1,d{n},ann,{n % 2}" for part in ("short", "long") for n in range(5)]
    _, notes = look(tmp_path, ["setting,query,doc,judge,label", *rows])
    note = next(note for note in notes if note.code == "repeated-labels")
    assert [suggestion.arguments for suggestion in note.suggestions] == [{"where": {"setting": "short"}}]


def test_a_further_column_with_trusted_labels_is_found(tmp_path: Path) -> None:
    found, _ = look(tmp_path, ["query,doc,worker,label,gold", "q1,d1,w1,0,1", "q1,d2,w1,1,", "q1,d2,w2,1,"])
    assert isinstance(found, LabelFile)
    assert found.trusted_column == "gold"


def test_labels_without_a_query_say_so_and_count_none(tmp_path: Path) -> None:
    found, notes = look(tmp_path, ["item,worker,label", "a,x,0", "a,y,1"])
    assert isinstance(found, LabelFile)
    assert not found.has_query
    assert "queries" not in found.counts
    assert notes[0].code == "no-query-column"


def test_a_sample_is_gold_when_every_label_is_there_and_waits_until_then(tmp_path: Path) -> None:
    head, rows = (
        "query,doc,prob,stratum,design,label",
        ["q1,d1,0.5,q1,pool_stratified,1", "q1,d2,0.5,q1,pool_stratified,"],
    )
    waiting, _ = look(tmp_path, [head, *rows])
    assert (waiting.kind, waiting.counts["labelled"], waiting.counts["documents"]) == ("sample", 1, 2)
    gold, _ = look(tmp_path, [head, *(f"{row.rstrip(',1')},0" for row in rows)])
    assert (gold.kind, gold.counts["design"]) == ("gold", "pool_stratified")


def test_a_pool_with_an_empty_column_of_labels_waits(tmp_path: Path) -> None:
    found, _ = look(tmp_path, ["query,doc,label", "q1,d1,", "q1,d2,"])
    assert (found.kind, found.counts["labelled"]) == ("pool", 0)


def test_ranks_and_labels_in_three_fields_look_alike(tmp_path: Path) -> None:
    _, notes = look(tmp_path, ["q1 d1 1", "q1 d2 7", "q1 d3 30"], "three")
    assert "read-as-labels" in [note.code for note in notes]
