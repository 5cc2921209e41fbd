"""What every command about judges is asked, through a small command that says what it read."""

from __future__ import annotations

import gzip
import io
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ringtrue.cli import COMMANDS
from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.options.labels import LabelInputs, label_options
from ringtrue.cli.output import OutputFormat, emit, print_notes
from ringtrue.errors import DuplicateError, RingtrueError
from ringtrue.formatting.grid import Grid
from ringtrue.judges.votes import Votes, align_with_gold, make_votes
from ringtrue.messages import notes_as_dict
from strategies import examples, messy_texts

LABELS = "query,doc,judge,label\nq1,d1,ann,0\nq1,d1,ben,2\nq1,d2,ann,1\nq2,d3,ben,1\nq2,d3,ann,1\n"
GOLD = "query,doc,human,fold\nq1,d1,2,1\nq1,d2,0,2\n"
PAIRS = "query,left,right,judge,winner\nq1,d1,d2,ann,left\nq1,d2,d1,ben,d1\nq1,d2,d3,ann,tie\n"


@click.command("labels", cls=Command)
@label_options
@click.option("--traps")
@output_options
def command(label_inputs: LabelInputs, traps: str | None, form: OutputFormat) -> None:
    """Which labels are there?"""

    def settled() -> tuple[Votes, list[int | None]]:
        votes, gold = label_inputs.read_votes(), label_inputs.read_gold_votes()
        votes = votes.resolve_repeats(label_inputs.repeats)
        if gold is None:
            return votes, []
        votes, known = align_with_gold(votes, gold)
        return votes, [votes.labels[label] if label >= 0 else None for label in known]

    votes, gold = label_inputs.explain_errors(settled)
    print_notes(label_inputs.notes)
    data = {
        "votes": votes.size,
        "items": votes.items.rows(),
        "judges": votes.judges,
        "labels": votes.labels,
        "gold": gold,
        "traps": label_inputs.read_reference_votes(traps).items.rows() if traps else [],
        **notes_as_dict(label_inputs.notes),
    }
    emit(form, payload=data, grid=Grid(columns=["votes"], rows=[[str(votes.size)]]))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with l.csv, g.csv and p.csv, in which `ringtrue labels` is called."""
    module = ModuleType("ringtrue.cli.commands.labels")
    module.command = command  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ringtrue.cli.commands.labels", module)
    monkeypatch.setitem(COMMANDS, "labels", "Which labels are there?")
    for name, text in {"l.csv": LABELS, "g.csv": GOLD, "p.csv": PAIRS}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


Call = Callable[..., Any]


def stops(answer: Any, stop: tuple[int, str, str | None], *parts: str) -> None:
    """With `--json`, the command refused in one line, with this code, and names these things in this order."""
    assert answer.stop == stop
    assert answer.err.count("\n") == 1
    rest = answer.error["message"]
    for part in parts:
        _, found, rest = rest.partition(part)
        assert found == part


def test_labels_become_votes(folder: Path, ringtrue: Call) -> None:
    answer = ringtrue("labels", "l.csv", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert (found["votes"], found["judges"], found["labels"]) == (5, ["ann", "ben"], [0, 1, 2])
    assert found["items"] == [["q1", "d1"], ["q1", "d2"], ["q2", "d3"]]
    assert (found["gold"], found["notes"]) == ([], [])


def test_preferences_become_votes_on_pairs(folder: Path, ringtrue: Call) -> None:
    found = ringtrue("labels", "p.csv", "--json").json
    assert found["items"] == [["q1", "d1", "d2"], ["q1", "d2", "d3"]]
    assert (found["votes"], found["labels"]) == (3, [-1, 0, 1])


def test_standard_input_is_read_once(folder: Path, ringtrue: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def typed(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    typed(LABELS)
    assert ringtrue("labels", "-", "--gold", "g.csv", "--columns", "label=human", "--json").json["gold"] == [2, 0, None]
    typed(GOLD)
    assert ringtrue("labels", "l.csv", "--gold", "-", "--columns", "label=human", "--json").json["gold"] == [2, 0, None]
    typed(LABELS + "q1,d1,ann,1\n")
    stops(
        ringtrue("labels", "-", "--json"),
        (1, "repeated-labels", "repeats"),
        "standard input: ",
        "'ann'",
        "'d1'",
        "'q1'",
        "(0, 1)",
    )
    for words in (("-", "--gold", "-"), ("-", "-")):
        stops(ringtrue("labels", *words, "--json"), (2, "input-read-twice", None))


def test_several_files_count_together(folder: Path, ringtrue: Call) -> None:
    whole = ringtrue("labels", "l.csv", "--gold", "g.csv", "--columns", "label=human", "--json").json
    rows = LABELS.splitlines()
    Path("one.csv").write_text("\n".join(rows[:3]) + "\n")
    Path("two.qrels").write_text("".join(f"{query} {judge} {doc} {label}\n" for query, doc, judge, label in
                                         (row.split(",") for row in rows[3:])))  # fmt: skip
    words = ("labels", "one.csv", "two.qrels", "--gold", "g.csv", "--gold-columns", "label=human", "--json")
    assert ringtrue(*words).json == whole
    pairs = ringtrue("labels", "p.csv", "p.csv", "--repeats", "all", "--json").json
    assert (pairs["votes"], pairs["items"]) == (6, [["q1", "d1", "d2"], ["q1", "d2", "d3"]])


def test_what_is_wrong_with_several_files_names_them(folder: Path, ringtrue: Call) -> None:
    again = ringtrue("labels", "l.csv", "l.csv", "--json")
    stops(
        again, (1, "repeated-labels", "repeats"), "l.csv, l.csv: ", "'ann'", "'d1'", "'q1'", "(0, 0)", "4 other", *AGAIN
    )
    stops(
        ringtrue("labels", "l.csv", "p.csv", "--json"),
        (2, "mixed-kinds", "labels"),
        "l.csv has judgments",
        "p.csv has preferences",
    )
    answer = ringtrue("labels", "g.csv", "l.csv", "--columns", "label=human", "--gold", "g.csv", "--json")
    stops(answer, (2, "gold-is-bronze", "gold"), "g.csv: ")
    answer = ringtrue("labels", "l.csv", "l.csv", "--scale", "7-9", "--outside", "exclude", "--json")
    stops(answer, (1, "no-label-on-scale", None), "l.csv, l.csv: ", "7, 8, 9: 0 by ann (2 times), ")


def test_packed_files_and_other_tables_are_read(folder: Path, ringtrue: Call) -> None:
    expected = ringtrue("labels", "l.csv", "--json").json
    Path("l.csv.gz").write_bytes(gzip.compress(LABELS.encode()))
    table = pl.read_csv(LABELS.encode())
    table.write_parquet("l.parquet")
    table.write_ndjson("l.jsonl")
    table.write_csv("l.tsv", separator="\t")
    for name in ("l.csv.gz", "l.parquet", "l.jsonl", "l.tsv"):
        assert ringtrue("labels", name, "--json").json == expected


def test_qrels_have_their_judges_in_the_iteration_column(folder: Path, ringtrue: Call) -> None:
    Path("l.qrels").write_text("q1 ann d1 0\nq1 ben d1 2\nq1 ann d2 1\nq2 ben d3 1\nq2 ann d3 1\n")
    found = ringtrue("labels", "l.qrels", "--json").json
    assert found == ringtrue("labels", "l.csv", "--json").json
    Path("three.qrels").write_text("q1 d1 2\nq1 d2 0\n")
    assert ringtrue("labels", "l.qrels", "--gold", "three.qrels", "--json").json["gold"] == [2, 0, None]


@pytest.mark.parametrize("names", ["task,worker,label", "item,worker,label", "item,rater,rating", "doc,judge,grade"])
def test_tables_of_the_crowd_need_no_query(folder: Path, ringtrue: Call, names: str) -> None:
    Path("crowd.csv").write_text(f"{names}\nt1,w1,1\nt1,w2,0\n")
    Path("truth.csv").write_text(f"{names.split(',')[0]},truth\nt1,1\n")
    answer = ringtrue("labels", "crowd.csv", "--gold", "truth.csv", "--json")
    assert (answer.json["judges"], answer.json["gold"]) == (["w1", "w2"], [1])
    assert answer.notes == ["no-query-column", "no-query-column"]
    assert [note.partition(": ")[0] for note in answer.json["notes"]] == ["crowd.csv", "truth.csv"]
    assert answer.err == "".join(f"note: {note}\n" for note in answer.json["notes"])


# Labels as they should not be.


@pytest.mark.parametrize(
    ("rows", "code", "parts"),
    [
        ("1,relevant", "bad-label", ("row 2: ", "'label'", "'relevant'", "`ringtrue disagreement … --levels ")),
        ("true,false", "bad-label", ("row 1: ", "'label'", "'true'", "`ringtrue disagreement … --levels ")),
        ("1,0.5", "bad-label", ("row 2: ", "32 bits", "'label'", "'0.5'")),
        ("1,", "empty-cell", ("row 2: ", "'label'", "1 of 2 rows", "--where COLUMN!=")),
    ],
)
def test_labels_that_are_no_grades_are_told_with_their_row(
    folder: Path, ringtrue: Call, rows: str, code: str, parts: tuple[str, ...]
) -> None:
    Path("bad.csv").write_text("doc,judge,label\n" + "".join(f"d,{n},{row}\n" for n, row in enumerate(rows.split(","))))
    stops(ringtrue("labels", "bad.csv", "--json"), (1, code, None), "bad.csv: ", *parts)


def test_labels_below_0_are_left_out_with_a_note_or_declared(folder: Path, ringtrue: Call) -> None:
    Path("n.csv").write_text("query,doc,judge,label\nq1,d1,ann,-1\nq1,d1,ben,1\nq1,d2,ben,-2\n")
    found = ringtrue("labels", "n.csv", "--json")
    assert (found.json["votes"], found.notes) == (1, ["unjudged-labels"])
    assert all(part in found.err for part in ("n.csv: 2 labels", "--scale"))
    for scale in ("-2-1", "-2..1", "-2,-1,0,1", " -2 .. 1".replace(" ", "")):
        found = ringtrue("labels", "n.csv", f"--scale={scale}", "--json").json
        assert (found["votes"], found["labels"], found["notes"]) == (3, [-2, -1, 0, 1], [])
    stops(
        ringtrue("labels", "n.csv", "--where", "judge=ann", "--json"), (1, "nothing-judged", None), "n.csv: ", "--scale"
    )


def test_labels_outside_the_scale_are_refused_left_out_or_moved(folder: Path, ringtrue: Call) -> None:
    stray = ("l.csv: 1 label", "0, 1: 2 by ben")
    answer = ringtrue("labels", "l.csv", "--scale", "0,1", "--json")
    stops(answer, (1, "labels-outside-scale", None), *stray, "--outside exclude", "--outside clip")
    left = ringtrue("labels", "l.csv", "--scale", "0-1", "--outside", "exclude", "--json")
    assert (left.json["votes"], left.json["labels"], left.notes) == (4, [0, 1], ["outside-scale-excluded"])
    moved = ringtrue("labels", "l.csv", "--scale", "0-1", "--outside", "clip", "--json")
    assert (moved.json["votes"], moved.notes) == (5, ["outside-scale-clipped"])
    assert all(part in answer.err for answer in (left, moved) for part in stray)


def test_a_scale_holds_for_the_gold_too(folder: Path, ringtrue: Call) -> None:
    words = ("labels", "l.csv", "--gold", "g.csv", "--columns", "label=human", "--scale", "1-2", "--json")
    stops(
        ringtrue(*words, "--where", "label!=0"),
        (1, "labels-outside-scale", None),
        "g.csv: 1 label",
        "1, 2: 0 by 0",
        "--outside exclude",
    )


@pytest.mark.parametrize(
    ("scale", "code"),
    [
        ("x", "bad-value"),
        ("", "bad-value"),
        ("0,,1", "bad-value"),
        ("0.5,1", "bad-value"),
        ("3-0", "bad-value"),
        ("0-5000", "bad-value"),
        ("2", "short-scale"),
        ("0,2147483648", "large-label"),
    ],
)
def test_what_is_no_scale_is_refused(folder: Path, ringtrue: Call, scale: str, code: str) -> None:
    stops(ringtrue("labels", "l.csv", "--scale", scale, "--json"), (2, code, "scale"))


def test_ranges_and_labels_can_be_mixed_in_a_scale(folder: Path, ringtrue: Call) -> None:
    assert ringtrue("labels", "l.csv", "--scale", "0-2, 4", "--json").json["labels"] == [0, 1, 2, 4]


def test_options_that_would_do_nothing_are_refused(folder: Path, ringtrue: Call) -> None:
    stops(ringtrue("labels", "l.csv", "--outside", "clip", "--json"), (2, "needs-parameter", "scale"), "--scale")
    for option in ("--gold-columns", "--gold-where"):
        stops(ringtrue("labels", "l.csv", option, "label=human", "--json"), (2, "needs-parameter", "gold"))
    stops(ringtrue("labels", "p.csv", "--scale", "0-1", "--json"), (2, "unused-parameter", "scale"), "p.csv: ")


# Repeats.


VOTED_AGAIN = ("--repeats all", "--repeats first", "--repeats last")
AGAIN = ("--repeats first", "--repeats last", "--repeats all")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (LABELS + "q1,d1,ann,1\n", ("'d1'", "'q1'", "(0, 1)", "(rows 1, 6)", *AGAIN)),
        ("item,worker,label\na,ann,1\nb,ann,1\na,ann,1\n", ("'a' 2 times", "(1, 1)", "(rows 1, 3)", *AGAIN)),
        ("q ann d 0\nq ben d 0\nq ann d 1\n", ("'d'", "'q'", "(0, 1)", "(lines 1, 3)", *AGAIN)),
        (PAIRS + "q1,d2,d1,ann,d2\n", ("'d1', 'd2'", "'q1'", "('d1', 'd2')", *VOTED_AGAIN)),
    ],
)
def test_a_judge_who_says_it_twice_is_told_with_the_lines(
    folder: Path, ringtrue: Call, text: str, parts: tuple[str, ...]
) -> None:
    Path("twice").write_text(text)
    stops(ringtrue("labels", "twice", "--json"), (1, "repeated-labels", "repeats"), "twice: ", "'ann'", *parts)
    count = ringtrue("labels", "twice", "--repeats", "all", "--json").json["votes"]
    for choice in ("first", "last"):
        assert ringtrue("labels", "twice", "--repeats", choice, "--json").json["votes"] == count - 1


# Gold.


def test_the_gold_file_may_name_its_columns_apart(folder: Path, ringtrue: Call) -> None:
    words = ("labels", "l.csv", "--gold", "g.csv", "--json")
    assert ringtrue(*words, "--columns", "label=human").json["gold"] == [2, 0, None]
    assert ringtrue(*words, "--gold-columns", "label=human").json["gold"] == [2, 0, None]
    assert ringtrue(*words, "--gold-columns", "label=human", "--gold-where", "fold=2").json["gold"] == [None, 0, None]
    stops(
        ringtrue(*words),
        (1, "missing-column", None),
        "g.csv: ",
        "'label'",
        "query, doc, human, fold",
        "--gold-columns label=NAME",
    )


def test_where_and_columns_apply_to_every_file_that_has_the_column(folder: Path, ringtrue: Call) -> None:
    words = ("labels", "l.csv", "--gold", "g.csv", "--gold-columns", "label=human", "--json")
    both = ringtrue(*words, "--where", "doc!=d2").json
    assert (both["items"], both["gold"]) == ([["q1", "d1"], ["q2", "d3"]], [2, None])
    one = ringtrue(*words, "--where", "judge=ann").json
    assert (one["votes"], one["judges"], one["gold"]) == (3, ["ann"], [2, 0, None])
    other = ringtrue(*words, "--where", "fold=1").json
    assert (other["votes"], other["gold"]) == (5, [2, None, None])


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--columns", "label=human"),
        ("--gold-columns", "label=label"),
        ("--gold-where", "label!="),
        ("--where", "judge=ann"),
    ],
)
def test_the_labels_themselves_are_no_gold(folder: Path, ringtrue: Call, options: tuple[str, ...]) -> None:
    Path("all.csv").write_text("query,doc,judge,label,human\nq,d,ann,1,0\nq,d,ben,0,0\nq,e,ann,1,1\n")
    both = ("--columns and --where",) if {"--columns", "--where"} & set(options) else ()
    for path in ("all.csv", f"{folder}/all.csv"):
        answer = ringtrue("labels", "all.csv", "--gold", path, *options, "--json")
        stops(
            answer,
            (2, "gold-is-bronze", "gold"),
            f"{path}: ",
            *both,
            "--gold-columns label=NAME",
            "--gold-where COLUMN=VALUE",
        )


def test_a_column_or_a_judge_of_the_labels_can_be_gold(folder: Path, ringtrue: Call) -> None:
    Path("all.csv").write_text("query,doc,judge,label,human\nq,d,ann,1,0\nq,d,ben,0,0\nq,e,ann,1,1\n")
    words = ("labels", "all.csv", "--gold", "all.csv", "--json")
    assert ringtrue(*words, "--gold-columns", "label=human").json["gold"] == [0, 1]
    assert ringtrue(*words, "--gold-where", "judge=ann").json["gold"] == [1, 1]


def test_files_without_columns_are_no_gold_of_their_own(folder: Path, ringtrue: Call) -> None:
    Path("l.qrels").write_text("q1 ann d1 0\n")
    same = ringtrue("labels", "l.qrels", "--gold", "l.qrels", "--json")
    assert (same.stop, "--gold-columns" in same.error["message"]) == ((2, "gold-is-bronze", "gold"), False)
    stops(
        ringtrue("labels", "p.csv", "--gold", "p.csv", "--json"),
        (2, "gold-is-bronze", "gold"),
        "--gold-columns winner=NAME",
    )


def test_what_is_missing_in_the_gold_file_is_named_by_its_own_options(folder: Path, ringtrue: Call) -> None:
    Path("g2.csv").write_text("doc,label,qery\nd1,2,q1\n")
    Path("l2.csv").write_text("doc,judge,label\nd1,ann,0\n")
    answer = ringtrue("labels", "l2.csv", "--gold", "g2.csv", "--json")
    assert answer.notes == ["no-query-column", "no-query-column"]
    assert [" query=qery " in note for note in answer.json["notes"]] == [False, True]
    Path("g3.csv").write_text("query,doc,label\nq1,d1,\n")
    empty = ringtrue("labels", "l.csv", "--gold", "g3.csv", "--json")
    stops(empty, (1, "empty-cell", None), "g3.csv: row 1: ", "'label'", "1 of 1 rows", "--gold-where COLUMN!=")


def test_gold_without_queries_says_so(folder: Path, ringtrue: Call) -> None:
    Path("g2.csv").write_text("doc,label\nd1,2\n")
    answer = ringtrue("labels", "l.csv", "--gold", "g2.csv", "--json")
    stops(answer, (1, "gold-without-queries", None), "'d1'", "'d1'", "'q1'", "--gold-columns query=NAME")


@pytest.mark.parametrize(("option", "what"), [("--gold", "gold"), ("--traps", "traps")])
def test_known_labels_that_contradict_each_other_are_told_with_their_own_file_and_rows(
    folder: Path, ringtrue: Call, option: str, what: str
) -> None:
    Path("known.csv").write_text("query,doc,label\nq1,d2,0\nq1,d1,1\nq1,d1,0\n")
    answer = ringtrue("labels", "l.csv", option, "known.csv", "--json")
    stops(answer, (1, "several-labels", None), f"known.csv: {what}: ", "(0, 1)", "'d1'", "'q1'", "(rows 2, 3)")
    if option == "--traps":
        Path("good.csv").write_text("query,doc,label\nq1,d1,1\n")
        answer = ringtrue("labels", "l.csv", "--gold", "good.csv", option, "known.csv", "--json")
        stops(answer, (1, "several-labels", None), "known.csv: traps: ")


def test_what_is_wrong_with_a_column_is_told_with_the_file(folder: Path, ringtrue: Call) -> None:
    Path("t.csv").write_text("query,doc,judge,label,time\nq,d,ann,1,05/06/2024 10:00\nq,d,ben,1,06/06/2024 10:00\n")
    for command_name in ("agree", "judges"):
        answer = ringtrue(command_name, "t.csv", "--json")
        stops(answer, (1, "ambiguous-date", None), "t.csv: row 1: ", "'time'", "'05/06/2024 10:00'")
    answer = ringtrue("agree", "t.csv", "--where", "query=q", "--json")
    stops(answer, (1, "ambiguous-date", None), "t.csv: where query=q: row 1: ")


def test_a_misspelt_header_is_told_with_the_near_miss(folder: Path, ringtrue: Call) -> None:
    Path("m.csv").write_text("query,doc,jugde,label\nq,d,ann,1\nq,d,ben,0\n")
    answer = ringtrue("labels", "m.csv", "--json")
    stops(
        answer,
        (1, "unnamed-judges", None),
        "m.csv: ",
        "'d'",
        "'q'",
        "(1, 0)",
        "(rows 1, 2)",
        "--columns judge=jugde",
        *AGAIN,
    )
    assert ringtrue("labels", "m.csv", "--columns", "judge=jugde", "--json").json["judges"] == ["ann", "ben"]


@pytest.mark.parametrize(
    ("options", "error", "parts"),
    [
        (("--columns", "label=humn"), ("unknown-column", "columns"), ("l.csv or g.csv: ", "'humn'", "'human'?")),
        (
            ("--where", "zzz=1"),
            ("unknown-column", "where"),
            ("l.csv or g.csv: ", "'zzz'", "query, doc, judge, label, human, fold"),
        ),
        (("--where", "judg!=ann"), ("unknown-column", "where"), ("l.csv or g.csv: ", "'judg'", "'judge'?")),
        (
            ("--gold-columns", "label=judge"),
            ("unknown-column", "gold_columns"),
            ("g.csv: ", "'judge'", "query, doc, human, fold"),
        ),
        (("--gold-where", "fild=1"), ("unknown-column", "gold_where"), ("g.csv: ", "'fild'", "'fold'?")),
        (
            ("--gold-columns", "label=human", "--gold-where", "fold=9"),
            ("no-such-rows", "gold_where"),
            ("g.csv: ", "fold=9", "1, 2"),
        ),
        (("--where", "judge=zed"), ("no-such-rows", "where"), ("l.csv: ", "judge=zed", "ann, ben")),
    ],
)
def test_a_column_that_no_file_has_is_told_with_the_near_miss(
    folder: Path, ringtrue: Call, options: tuple[str, ...], error: tuple[str, str | None], parts: tuple[str, ...]
) -> None:
    stops(ringtrue("labels", "l.csv", "--gold", "g.csv", *options, "--json"), (2, *error), *parts)


def test_files_without_named_columns_take_no_names(folder: Path, ringtrue: Call) -> None:
    Path("l.qrels").write_text("q1 ann d1 0\n")
    stops(
        ringtrue("labels", "l.qrels", "--where", "judge=ann", "--json"),
        (2, "unknown-column", "where"),
        "l.qrels: ",
        "'judge'",
    )
    mixed = ringtrue("labels", "l.qrels", "--gold", "g.csv", "--columns", "label=human", "--json")
    assert mixed.json["gold"] == [2]


def test_gold_can_be_a_column_of_the_same_file(folder: Path, ringtrue: Call) -> None:
    Path("same.csv").write_text("doc,judge,label,gold\na,x,1,1\na,y,0,1\nb,x,-2,\nc,x,1,-2\nc,y,-1,-2\n")
    answer = ringtrue("labels", "same.csv", "--gold", "same.csv", "--gold-columns", "label=gold", "--gold-where",
                      "gold!=", "--json")  # fmt: skip
    assert (answer.json["items"], answer.json["gold"]) == ([["0", "a"], ["0", "c"]], [1, None])
    assert answer.notes == ["no-query-column", "unjudged-labels", "unjudged-labels"]
    column, labels, gold = answer.json["notes"]
    assert " query=NAME " in column
    assert [note.partition(": 2 ")[0] for note in (labels, gold)] == ["same.csv", "same.csv, gold"]


@pytest.mark.parametrize(
    ("labels", "gold", "code", "parts"),
    [
        ("l.csv", "query,doc,label\nq1,d1,0\nq1,d2,1\nq1,d1,1\n", "several-labels",
         ("gold: ", "gold: ", "(0, 1)", "'d1'", "'q1'", "(rows 1, 3)")),
        ("l.csv", "q1 0 d1 0\nq1 1 d1 1\nq1 0 d2 1\nq1 1 d2 0\n", "several-labels",
         ("gold: ", "(0, 1)", "'d1'", "'q1'", "1 other", "(lines 1, 2)")),
        ("p.csv", "query,left,right,winner\nq1,d1,d2,d1\nq1,d2,d1,tie\n", "several-labels",
         ("gold: ", "(tie, 'd1')", "'d1', 'd2'", "'q1'")),
        ("l.csv", "query,doc,label\n1,d1,0\n", "gold-unlabelled", ("'d1'", "'1'", "'d1'", "'q1'")),
        ("l.csv", PAIRS, "labels-and-pairs", ("labelled documents", "pairs of")),
        ("p.csv", "query,doc,label\nq1,d1,0\n", "labels-and-pairs", ("labelled pairs", "of documents;")),
    ],
)  # fmt: skip
def test_gold_that_cannot_be_used_is_refused(
    folder: Path, ringtrue: Call, labels: str, gold: str, code: str, parts: tuple[str, ...]
) -> None:
    Path("gold").write_text(gold)
    stops(ringtrue("labels", labels, "--gold", "gold", "--json"), (1, code, None), *parts)


def test_further_files_are_read_with_the_names_that_they_have(folder: Path, ringtrue: Call) -> None:
    Path("traps.csv").write_text("query,doc,human,fold\nq1,d1,2,1\nq2,d3,1,2\n")
    words = ("labels", "l.csv", "--gold", "g.csv", "--columns", "label=human", "--traps", "traps.csv", "--json")
    assert ringtrue(*words).json["traps"] == [["q1", "d1"], ["q2", "d3"]]
    assert ringtrue(*words, "--where", "fold=2").json["traps"] == [["q2", "d3"]]


def test_a_clash_in_some_other_file_is_told_as_it_is() -> None:
    asked = dict.fromkeys(("gold_columns", "gold_where", "forced", "columns", "where"), ())
    labelling = LabelInputs(labels="l.csv", gold=None, scale=None, outside="refuse", repeats=None, level=0.95, **asked)
    traps = make_votes({"item": ["a", "a"], "label": [0, 1]})
    with pytest.raises(DuplicateError) as refused:
        labelling.explain_errors(lambda: align_with_gold(traps, traps))
    assert (refused.value.code, refused.value.note.subject, "(0, 1)" in refused.value.text) == (
        "several-labels",
        "gold",
        True,
    )


# Formats.


def test_a_table_with_unknown_names_says_what_to_do(folder: Path, ringtrue: Call) -> None:
    Path("odd.csv").write_text("frage;dokument;richter;note\nq1;d1;ann;1\nq1;d1;ben;0\n")
    odd = ringtrue("labels", "odd.csv", "--json")
    stops(
        odd,
        (1, "unknown-columns", None),
        "odd.csv: ",
        "frage, dokument, richter, note",
        "--columns query=…,doc=…,label=…",
    )
    names = ("--columns", "query=frage,doc=dokument", "--columns", "judge=richter,label=note", "--json")
    found = ringtrue("labels", "odd.csv", *names).json
    assert (found["items"], found["judges"]) == ([["q1", "d1"]], ["ann", "ben"])
    assert ringtrue("labels", "odd.csv", "--as", "csv", *names).json == found
    pairs = "x;y;sieger\nd1;d2;d1\n"
    Path("paare.csv").write_text(pairs)
    names = ("--columns", "left=x,right=y,winner=sieger", "--as", "csv", "--json")
    assert ringtrue("labels", "paare.csv", *names).json["items"] == [["0", "d1", "d2"]]


def test_a_format_can_be_forced(folder: Path, ringtrue: Call) -> None:
    assert ringtrue("labels", "l.csv", "--as", "csv", "--json").json == ringtrue("labels", "l.csv", "--json").json
    assert ringtrue("labels", "p.csv", "--as", "csv", "--json").json == ringtrue("labels", "p.csv", "--json").json
    Path("p.pref").write_text("q1 0 d1 0\n")  # qrels, were it not for the word
    assert ringtrue("labels", "p.pref", "--json").json["items"] == [["q1", "d1"]]
    assert ringtrue("labels", "p.pref", "--as", "pairs", "--json").json["items"] == [["q1", "0", "d1"]]
    stops(
        ringtrue("labels", "p.pref", "--as", "qrels-3", "--json"), (1, "too-many-fields", None), "p.pref:1: ", "found 4"
    )
    stops(ringtrue("labels", "l.csv", "--as", "trec-run", "--json"), (2, "wrong-format", "as"), "trec-run")


def test_a_missing_file_suggests_the_near_one(folder: Path, ringtrue: Call) -> None:
    stops(ringtrue("labels", "ll.csv", "--json"), (1, "no-such-file", None), "ll.csv: ", "'l.csv'?")
    stops(ringtrue("labels", "l.csv", "--gold", "gg.csv", "--json"), (1, "no-such-file", None), "gg.csv: ")


cells = st.sampled_from(["a", "b", "q", "left", "tie", "0", "1", "2", "-1", "0.5", "true", "", "7", '"', "relevant"])
headers = st.sampled_from(
    ["doc,judge,label", "item,worker,label", "query,doc,label", "left,right,winner", "label,x,doc", "a,b,c", "q 0 d 1"]
)
tables = st.tuples(headers, st.lists(st.lists(cells, min_size=2, max_size=4).map(",".join), max_size=4)).map(
    lambda parts: "\n".join([parts[0], *parts[1]]).encode()
)
contents = st.one_of(tables, tables, messy_texts((False, False, False, True)))


@settings(examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    labels=contents,
    gold=contents,
    columns=st.sampled_from([(), ("label=label",), ("doc=b",), ("winner=c",), ("judge=x,label=doc",)]),
    where=st.sampled_from([(), ("label!=",), ("doc=a",), ("judge!=b",)]),
    scale=st.sampled_from([None, "0-1", "-1..2"]),
    forced=st.sampled_from([(), (), ("csv",), ("trec-qrels",), ("pairs",), ("jsonl",)]),
)
def test_whatever_two_files_hold_only_our_own_errors_come_out(
    tmp_path: Path, labels: bytes, gold: bytes, columns: Any, where: Any, scale: str | None, forced: Any
) -> None:
    (tmp_path / "l").write_bytes(labels)
    (tmp_path / "g").write_bytes(gold)
    asked = LabelInputs(
        labels=(str(tmp_path / "l"),), gold=str(tmp_path / "g"), scale=scale, outside="clip" if scale else "refuse",
        repeats=None, level=0.95, gold_columns=(), gold_where=where, forced=forced, columns=columns, where=where,
    )  # fmt: skip
    with suppress(RingtrueError):
        assert asked.read_votes().size
    with suppress(RingtrueError):
        asked.explain_errors(
            lambda: align_with_gold(
                asked.read_votes().resolve_repeats(None), asked.read_gold_votes() or asked.read_votes()
            )
        )
    with suppress(RingtrueError):
        assert (
            replace(asked, labels=(str(tmp_path / "l"), str(tmp_path / "g")), gold=None, gold_where=())
            .read_votes()
            .size
        )


# Real data.


@pytest.mark.real
def test_crowd_labels_and_truth_without_queries(folder: Path, ringtrue: Call, data: Path) -> None:
    found = ringtrue("labels", f"{data}/web5/label.csv", "--gold", f"{data}/web5/truth.csv", "--json").json
    assert (found["votes"], len(found["judges"]), found["labels"]) == (15_567, 177, [0, 1, 2, 3, 4])
    assert len([label for label in found["gold"] if label is not None]) == 2_653


@pytest.mark.real
def test_the_gold_column_of_crowd_labels(folder: Path, ringtrue: Call, data: Path) -> None:
    labels = f"{data}/rf10/labels.csv"
    words = ("labels", labels, "--gold", labels, "--gold-columns", "label=gold", "--gold-where", "gold!=")
    parts = ("'clueweb09-en0009-33-5110'", "'20002' 2 times", "1,313 other")
    stops(ringtrue(*words, "--json"), (1, "repeated-labels", "repeats"), *parts)
    found = ringtrue(*words, "--repeats", "all", "--json").json
    assert (found["votes"], len(found["judges"]), found["labels"]) == (91_783, 762, [0, 1, 2])
    assert len([label for label in found["gold"] if label is not None]) == 3_275
    assert found["note_codes"] == ["unjudged-labels", "unjudged-labels"]
    assert [re.findall(r"\b[56],\d+\b", note) for note in found["notes"]] == [["6,670"], ["5,644"]]


@pytest.mark.slow
@pytest.mark.real
def test_the_human_column_of_model_labels(folder: Path, ringtrue: Call, data: Path) -> None:
    labels = f"{data}/llmjudge/labels.csv"
    words = ("labels", labels, "--gold", labels, "--gold-columns", "label=human", "--json")
    found = ringtrue(*words).json
    assert (found["votes"], len(found["judges"]), found["labels"]) == (145_959, 33, [0, 1, 2, 3, 5, 10])
    assert len(found["gold"]) == 4_423
    assert None not in found["gold"]
    refused = ringtrue(*words, "--scale", "0-3")
    stops(
        refused,
        (1, "labels-outside-scale", None),
        "5 by RMITIR-llama70B (2 times)",
        "10 by h2oloo-zeroshot2",
        "--outside exclude",
    )
    assert ringtrue(*words, "--scale", "0-3", "--outside", "clip").json["votes"] == 145_959
    assert ringtrue(*words, "--scale", "0-3", "--outside", "exclude").json["votes"] == 145_956


@pytest.mark.real
def test_preferences_whose_query_has_another_name(folder: Path, ringtrue: Call, data: Path) -> None:
    refused = ringtrue("labels", f"{data}/arena/llmfao.csv")
    assert "--columns query=" in refused.err
    assert "id, prompt" in refused.err
    assert "1,013 other cases" not in ringtrue("labels", f"{data}/arena/llmfao.csv", "--columns", "query=prompt").err


@pytest.mark.real
def test_three_ways_of_judging_one_collection(folder: Path, ringtrue: Call, data: Path) -> None:
    found = ringtrue("labels", f"{data}/nyt17/pilot_labels.csv", "--where", "experiment=3P-Doc-High", "--gold",
                     f"{data}/nyt17/pilot_docs.csv", "--columns", "label=nist_rel", "--json").json  # fmt: skip
    assert (found["votes"], len(found["judges"]), len(found["gold"])) == (1_797, 73, 120)
    assert (found["labels"], None in found["gold"], found["notes"]) == ([0, 1, 2], False, [])


@pytest.mark.real
def test_qrels_of_three_judges(folder: Path, ringtrue: Call, data: Path) -> None:
    found = ringtrue("labels", f"{data}/trec_eval/qrels.123", "--json").json
    assert (found["votes"], len(found["judges"])) == (9_450, 3)
