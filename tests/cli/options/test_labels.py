"""What every command about judges is asked, through a small command that says what it read."""

from __future__ import annotations

import gzip
import io
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
        "notes": label_inputs.notes,
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


def says(answer: Any, text: str, *, code: int = 1) -> None:
    """The command refused, in one line, with these words."""
    assert answer.code == code
    assert answer.out == ""
    lines = answer.err.strip().splitlines()
    assert lines[-1] == f"ringtrue: {text}"
    assert len(lines) == 1


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
    assert (
        "standard input: judge 'ann' labelled document 'd1' of query 'q1' 2 times (0, 1); "
        in ringtrue("labels", "-").err
    )
    for words in (("-", "--gold", "-"), ("-", "-")):
        says(ringtrue("labels", *words), "standard input (-) can be read only once; put the others into files", code=2)


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
    says(
        ringtrue("labels", "l.csv", "l.csv"),
        f"l.csv, l.csv: judge 'ann' labelled document 'd1' of query 'q1' 2 times (0, 0), as in 4 other cases; {AGAIN}",
    )
    says(
        ringtrue("labels", "l.csv", "p.csv"),
        "several files count together if they are of one kind; l.csv has judgments, p.csv has preferences",
        code=2,
    )
    answer = ringtrue("labels", "g.csv", "l.csv", "--columns", "label=human", "--gold", "g.csv")
    assert answer.code == 2
    assert "g.csv: --gold is the file of the labels, read in the same way, and every judge would be right" in answer.err
    answer = ringtrue("labels", "l.csv", "l.csv", "--scale", "7-9", "--outside", "exclude")
    assert answer.err.startswith("ringtrue: l.csv, l.csv: no label lies on the scale 7, 8, 9: 0 by ann (2 times), ")


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
    assert answer.json["notes"] == [
        f"{name}: no column names the query: each document is an item of its own" for name in ("crowd.csv", "truth.csv")
    ]
    assert answer.err == "".join(f"note: {note}\n" for note in answer.json["notes"])


# Labels as they should not be.


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            "1,relevant",
            (
                "row 2: expected a finite number in column 'label', found 'relevant'; labels are grades such as "
                "0, 1, 2: put numbers in place of words; `ringtrue disagreement … --levels [COLUMN=]A,B,C` takes words"
            ),
        ),
        (
            "true,false",
            (
                "row 1: expected a finite number in column 'label', found 'true'; labels are grades such as "
                "0, 1, 2: put numbers in place of words; `ringtrue disagreement … --levels [COLUMN=]A,B,C` takes words"
            ),
        ),
        ("1,0.5", "row 2: expected a whole number of 32 bits in column 'label', found '0.5'"),
        (
            "1,",
            (
                "row 2: column 'label' is empty in 1 of 2 rows; every row needs a value; --where COLUMN!= leaves out "
                "the rows where COLUMN is empty"
            ),
        ),
    ],
)
def test_labels_that_are_no_grades_are_told_with_their_row(folder: Path, ringtrue: Call, rows: str, text: str) -> None:
    Path("bad.csv").write_text("doc,judge,label\n" + "".join(f"d,{n},{row}\n" for n, row in enumerate(rows.split(","))))
    says(ringtrue("labels", "bad.csv"), f"bad.csv: {text}")


def test_labels_below_0_are_left_out_with_a_note_or_declared(folder: Path, ringtrue: Call) -> None:
    Path("n.csv").write_text("query,doc,judge,label\nq1,d1,ann,-1\nq1,d1,ben,1\nq1,d2,ben,-2\n")
    found = ringtrue("labels", "n.csv", "--json").json
    note = "n.csv: 2 labels below 0 ('not judged') left out; --scale LABELS declares such labels"
    assert (found["votes"], found["notes"]) == (1, [note])
    for scale in ("-2-1", "-2..1", "-2,-1,0,1", " -2 .. 1".replace(" ", "")):
        found = ringtrue("labels", "n.csv", f"--scale={scale}", "--json").json
        assert (found["votes"], found["labels"], found["notes"]) == (3, [-2, -1, 0, 1], [])
    says(ringtrue("labels", "n.csv", "--where", "judge=ann"),
         "n.csv: every label is below 0, which means 'not judged'; --scale LABELS declares such labels")  # fmt: skip


def test_labels_outside_the_scale_are_refused_left_out_or_moved(folder: Path, ringtrue: Call) -> None:
    stray = "1 label outside the scale 0, 1: 2 by ben"
    choices = "--outside exclude leaves it out, or --outside clip moves it to the nearest label"
    says(ringtrue("labels", "l.csv", "--scale", "0,1"), f"l.csv: {stray}; {choices}")
    left = ringtrue("labels", "l.csv", "--scale", "0-1", "--outside", "exclude", "--json").json
    assert (left["votes"], left["labels"], left["notes"]) == (4, [0, 1], [f"l.csv: {stray}; left out"])
    moved = ringtrue("labels", "l.csv", "--scale", "0-1", "--outside", "clip", "--json").json
    assert (moved["votes"], moved["notes"]) == (5, [f"l.csv: {stray}; moved to the nearest label"])


def test_a_scale_holds_for_the_gold_too(folder: Path, ringtrue: Call) -> None:
    words = ("labels", "l.csv", "--gold", "g.csv", "--columns", "label=human", "--scale", "1-2")
    says(ringtrue(*words, "--where", "label!=0"), "g.csv: 1 label outside the scale 1, 2: 0 by 0; --outside exclude "
         "leaves it out, or --outside clip moves it to the nearest label")  # fmt: skip


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        ("x", "--scale expects whole numbers such as 0-3 or 0,1,2; found 'x'"),
        ("", "--scale expects whole numbers such as 0-3 or 0,1,2; found ''"),
        ("0,,1", "--scale expects whole numbers such as 0-3 or 0,1,2; found '0,,1'"),
        ("0.5,1", "--scale expects whole numbers such as 0-3 or 0,1,2; found '0.5,1'"),
        ("3-0", "--scale 3-0: from 3 to 0 is no scale; write the lowest label first"),
        ("0-5000", "--scale 0-5000: 5,001 labels are too many, 200 the most"),
        ("2", "a scale needs two labels or more, found 2 (--scale)"),
        ("0,2147483648", "a scale has labels of 32 bits, found 2147483648 (--scale)"),
    ],
)
def test_what_is_no_scale_is_refused(folder: Path, ringtrue: Call, scale: str, text: str) -> None:
    says(ringtrue("labels", "l.csv", "--scale", scale), text, code=2)


def test_ranges_and_labels_can_be_mixed_in_a_scale(folder: Path, ringtrue: Call) -> None:
    assert ringtrue("labels", "l.csv", "--scale", "0-2, 4", "--json").json["labels"] == [0, 1, 2, 4]


def test_options_that_would_do_nothing_are_refused(folder: Path, ringtrue: Call) -> None:
    says(ringtrue("labels", "l.csv", "--outside", "clip"),
         "--outside clip is about labels outside a scale; declare one, such as --scale 0-3", code=2)  # fmt: skip
    for option in ("--gold-columns", "--gold-where"):
        says(ringtrue("labels", "l.csv", option, "label=human"),
             "--gold-columns and --gold-where are about the file of --gold, and there is none", code=2)  # fmt: skip
    says(ringtrue("labels", "p.csv", "--scale", "0-1"),
         "p.csv: --scale is about labels, and these are preferences", code=2)  # fmt: skip


# Repeats.


VOTED_AGAIN = "--repeats all counts each as a vote of its own, or --repeats first or --repeats last keeps one"
AGAIN = "--repeats first or --repeats last keeps one, or --repeats all counts each as a label of its own"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LABELS + "q1,d1,ann,1\n", f"labelled document 'd1' of query 'q1' 2 times (0, 1) (rows 1, 6); {AGAIN}"),
        (
            "item,worker,label\na,ann,1\nb,ann,1\na,ann,1\n",
            f"labelled document 'a' 2 times (1, 1) (rows 1, 3); {AGAIN}",
        ),
        (
            "q ann d 0\nq ben d 0\nq ann d 1\n",
            f"labelled document 'd' of query 'q' 2 times (0, 1) (lines 1, 3); {AGAIN}",
        ),
        (
            PAIRS + "q1,d2,d1,ann,d2\n",
            f"voted on the pair 'd1', 'd2' of query 'q1' 2 times ('d1', 'd2'); {VOTED_AGAIN}",
        ),
    ],
)
def test_a_judge_who_says_it_twice_is_told_with_the_lines(folder: Path, ringtrue: Call, text: str, told: str) -> None:
    Path("twice").write_text(text)
    says(ringtrue("labels", "twice"), f"twice: judge 'ann' {told}")
    count = ringtrue("labels", "twice", "--repeats", "all", "--json").json["votes"]
    for choice in ("first", "last"):
        assert ringtrue("labels", "twice", "--repeats", choice, "--json").json["votes"] == count - 1


# Gold.


def test_the_gold_file_may_name_its_columns_apart(folder: Path, ringtrue: Call) -> None:
    words = ("labels", "l.csv", "--gold", "g.csv", "--json")
    assert ringtrue(*words, "--columns", "label=human").json["gold"] == [2, 0, None]
    assert ringtrue(*words, "--gold-columns", "label=human").json["gold"] == [2, 0, None]
    assert ringtrue(*words, "--gold-columns", "label=human", "--gold-where", "fold=2").json["gold"] == [None, 0, None]
    says(ringtrue(*words[:-1]), "g.csv: a judgments table needs a column 'label' (also known as label, relevance, rel, "
         "grade, rating, judgment, judgement, truth); found query, doc, human, fold; --gold-columns label=NAME says "
         "which column it is")  # fmt: skip


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
    both = "; --columns and --where are about both" if {"--columns", "--where"} & set(options) else ""
    for path in ("all.csv", f"{folder}/all.csv"):
        says(ringtrue("labels", "all.csv", "--gold", path, *options),
             f"{path}: --gold is the file of the labels, read in the same way, and every judge would be right{both}; "
             f"say which column has the gold: --gold-columns label=NAME, or which rows: --gold-where COLUMN=VALUE",
             code=2)  # fmt: skip


def test_a_column_or_a_judge_of_the_labels_can_be_gold(folder: Path, ringtrue: Call) -> None:
    Path("all.csv").write_text("query,doc,judge,label,human\nq,d,ann,1,0\nq,d,ben,0,0\nq,e,ann,1,1\n")
    words = ("labels", "all.csv", "--gold", "all.csv", "--json")
    assert ringtrue(*words, "--gold-columns", "label=human").json["gold"] == [0, 1]
    assert ringtrue(*words, "--gold-where", "judge=ann").json["gold"] == [1, 1]


def test_files_without_columns_are_no_gold_of_their_own(folder: Path, ringtrue: Call) -> None:
    Path("l.qrels").write_text("q1 ann d1 0\n")
    assert ringtrue("labels", "l.qrels", "--gold", "l.qrels").err.endswith("would be right; give another file\n")
    assert "--gold-columns winner=NAME" in ringtrue("labels", "p.csv", "--gold", "p.csv").err


def test_what_is_missing_in_the_gold_file_is_named_by_its_own_options(folder: Path, ringtrue: Call) -> None:
    Path("g2.csv").write_text("doc,label,qery\nd1,2,q1\n")
    Path("l2.csv").write_text("doc,judge,label\nd1,ann,0\n")
    assert ringtrue("labels", "l2.csv", "--gold", "g2.csv", "--json").json["notes"] == [
        "l2.csv: no column names the query: each document is an item of its own",
        (
            "g2.csv: no column names the query: each document is an item of its own; --gold-columns query=qery "
            "takes 'qery' for it"
        ),
    ]
    Path("g3.csv").write_text("query,doc,label\nq1,d1,\n")
    says(ringtrue("labels", "l.csv", "--gold", "g3.csv"), "g3.csv: row 1: column 'label' is empty in 1 of 1 rows; "
         "every row needs a value; --gold-where COLUMN!= leaves out the rows where COLUMN is empty")  # fmt: skip


def test_gold_without_queries_says_so(folder: Path, ringtrue: Call) -> None:
    Path("g2.csv").write_text("doc,label\nd1,2\n")
    says(ringtrue("labels", "l.csv", "--gold", "g2.csv"), "no gold item was labelled by the judges: gold has document "
         "'d1', the judges document 'd1' of query 'q1'; gold has no queries; --gold-columns query=NAME "
         "names them")  # fmt: skip


@pytest.mark.parametrize(("option", "what"), [("--gold", "gold"), ("--traps", "traps")])
def test_known_labels_that_contradict_each_other_are_told_with_their_own_file_and_rows(
    folder: Path, ringtrue: Call, option: str, what: str
) -> None:
    Path("known.csv").write_text("query,doc,label\nq1,d2,0\nq1,d1,1\nq1,d1,0\n")
    told = f"known.csv: {what}: several labels (0, 1) for document 'd1' of query 'q1'; keep one for each (rows 2, 3)"
    says(ringtrue("labels", "l.csv", option, "known.csv"), told)
    if option == "--traps":
        Path("good.csv").write_text("query,doc,label\nq1,d1,1\n")
        answer = ringtrue("labels", "l.csv", "--gold", "good.csv", option, "known.csv")
        assert answer.err.startswith("ringtrue: known.csv: traps: ")


def test_what_is_wrong_with_a_column_is_told_with_the_file(folder: Path, ringtrue: Call) -> None:
    Path("t.csv").write_text("query,doc,judge,label,time\nq,d,ann,1,05/06/2024 10:00\nq,d,ben,1,06/06/2024 10:00\n")
    for command_name in ("agree", "judges"):
        says(ringtrue(command_name, "t.csv"), "t.csv: row 1: expected a time in column 'time', as a number or like "
             "2024-05-01 10:00:00, found '05/06/2024 10:00', where day and month may be exchanged: write the "
             "year first; a column of another name is ignored")  # fmt: skip
    told = ringtrue("agree", "t.csv", "--where", "query=q").err
    assert told.startswith("ringtrue: t.csv: where query=q: row 1: expected a time")


def test_a_misspelt_header_is_told_with_the_near_miss(folder: Path, ringtrue: Call) -> None:
    Path("m.csv").write_text("query,doc,jugde,label\nq,d,ann,1\nq,d,ben,0\n")
    says(ringtrue("labels", "m.csv"), "m.csv: document 'd' of query 'q' has 2 labels (1, 0), and no column names "
         f"their judges (rows 1, 2); --columns judge=jugde takes 'jugde' for it, or {AGAIN}")  # fmt: skip
    assert ringtrue("labels", "m.csv", "--columns", "judge=jugde", "--json").json["judges"] == ["ann", "ben"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--columns", "label=humn"), "l.csv or g.csv: no column 'humn'; did you mean 'human'? (--columns)"),
        (
            ("--where", "zzz=1"),
            ("l.csv or g.csv: no column 'zzz'; there is query, doc, judge, label, human, fold (--where)"),
        ),
        (("--where", "judg!=ann"), "l.csv or g.csv: no column 'judg'; did you mean 'judge'? (--where)"),
        (
            ("--gold-columns", "label=judge"),
            ("g.csv: no column 'judge'; there is query, doc, human, fold (--gold-columns)"),
        ),
        (("--gold-where", "fild=1"), "g.csv: no column 'fild'; did you mean 'fold'? (--gold-where)"),
        (
            ("--gold-columns", "label=human", "--gold-where", "fold=9"),
            "g.csv: no row has fold=9; it has 1, 2 (--gold-where)",
        ),
        (("--where", "judge=zed"), "l.csv: no row has judge=zed; it has ann, ben (--where)"),
    ],
)
def test_a_column_that_no_file_has_is_told_with_the_near_miss(
    folder: Path, ringtrue: Call, options: tuple[str, ...], text: str
) -> None:
    says(ringtrue("labels", "l.csv", "--gold", "g.csv", *options), text, code=2)


def test_files_without_named_columns_take_no_names(folder: Path, ringtrue: Call) -> None:
    Path("l.qrels").write_text("q1 ann d1 0\n")
    says(ringtrue("labels", "l.qrels", "--where", "judge=ann"),
         "l.qrels: no column 'judge'; there is no named column (--where)", code=2)  # fmt: skip
    mixed = ringtrue("labels", "l.qrels", "--gold", "g.csv", "--columns", "label=human", "--json")
    assert mixed.json["gold"] == [2]


def test_gold_can_be_a_column_of_the_same_file(folder: Path, ringtrue: Call) -> None:
    Path("same.csv").write_text("doc,judge,label,gold\na,x,1,1\na,y,0,1\nb,x,-2,\nc,x,1,-2\nc,y,-1,-2\n")
    answer = ringtrue("labels", "same.csv", "--gold", "same.csv", "--gold-columns", "label=gold", "--gold-where",
                      "gold!=", "--json")  # fmt: skip
    assert (answer.json["items"], answer.json["gold"]) == ([["0", "a"], ["0", "c"]], [1, None])
    assert answer.json["notes"] == [
        (
            "same.csv: no column names the query: each document is an item of its own; --columns query=NAME says "
            "which one it is, such as gold"
        ),
        "same.csv: 2 labels below 0 ('not judged') left out; --scale LABELS declares such labels",
        "same.csv, gold: 2 labels below 0 ('not judged') left out; --scale LABELS declares such labels",
    ]


@pytest.mark.parametrize(
    ("labels", "gold", "text"),
    [
        (
            "l.csv",
            "query,doc,label\nq1,d1,0\nq1,d2,1\nq1,d1,1\n",
            "gold: gold: several labels (0, 1) for document 'd1' of query 'q1'; keep one for each (rows 1, 3)",
        ),
        (
            "l.csv",
            "q1 0 d1 0\nq1 1 d1 1\nq1 0 d2 1\nq1 1 d2 0\n",
            (
                "gold: gold: several labels (0, 1) for document 'd1' of query 'q1', and for 1 other; "
                "keep one for each (lines 1, 2)"
            ),
        ),
        (
            "p.csv",
            "query,left,right,winner\nq1,d1,d2,d1\nq1,d2,d1,tie\n",
            "gold: gold: several labels (tie, 'd1') for the pair 'd1', 'd2' of query 'q1'; keep one for each",
        ),
        (
            "l.csv",
            "query,doc,label\n1,d1,0\n",
            (
                "no gold item was labelled by the judges: gold has document 'd1' of "
                "query '1', the judges document 'd1' of query 'q1'; do both use the same ids?"
            ),
        ),
        (
            "l.csv",
            PAIRS,
            ("the judges labelled documents, gold has labels of pairs of documents; both are of one kind"),
        ),
        (
            "p.csv",
            "query,doc,label\nq1,d1,0\n",
            ("the judges labelled pairs of documents, gold has labels of documents; both are of one kind"),
        ),
    ],
)
def test_gold_that_cannot_be_used_is_refused(folder: Path, ringtrue: Call, labels: str, gold: str, text: str) -> None:
    Path("gold").write_text(gold)
    says(ringtrue("labels", labels, "--gold", "gold"), text)


def test_further_files_are_read_with_the_names_that_they_have(folder: Path, ringtrue: Call) -> None:
    Path("traps.csv").write_text("query,doc,human,fold\nq1,d1,2,1\nq2,d3,1,2\n")
    words = ("labels", "l.csv", "--gold", "g.csv", "--columns", "label=human", "--traps", "traps.csv", "--json")
    assert ringtrue(*words).json["traps"] == [["q1", "d1"], ["q2", "d3"]]
    assert ringtrue(*words, "--where", "fold=2").json["traps"] == [["q2", "d3"]]


def test_a_clash_in_some_other_file_is_told_as_it_is() -> None:
    asked = dict.fromkeys(("gold_columns", "gold_where", "forced", "columns", "where"), ())
    labelling = LabelInputs(labels="l.csv", gold=None, scale=None, outside="refuse", repeats=None, level=0.95, **asked)
    traps = make_votes({"item": ["a", "a"], "label": [0, 1]})
    with pytest.raises(DuplicateError, match=r"^gold: several labels \(0, 1\)"):
        labelling.explain_errors(lambda: align_with_gold(traps, traps))


# Formats.


def test_a_table_with_unknown_names_says_what_to_do(folder: Path, ringtrue: Call) -> None:
    Path("odd.csv").write_text("frage;dokument;richter;note\nq1;d1;ann;1\nq1;d1;ben;0\n")
    says(ringtrue("labels", "odd.csv"), "odd.csv: this looks like a table with the columns frage, dokument, richter, "
         "note; --columns query=…,doc=…,label=… says what they are")  # fmt: skip
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
    says(ringtrue("labels", "p.pref", "--as", "qrels-3"), "p.pref:1: expected 3 fields (query doc label), found 4")
    says(ringtrue("labels", "l.csv", "--as", "trec-run"),
         "--as trec-run: this command reads judgments and preferences, which have no such format", code=2)  # fmt: skip


def test_a_missing_file_suggests_the_near_one(folder: Path, ringtrue: Call) -> None:
    says(ringtrue("labels", "ll.csv"), "ll.csv: no such file; did you mean 'l.csv'?")
    assert "gg.csv: no such file" in ringtrue("labels", "l.csv", "--gold", "gg.csv").err


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
    assert "'clueweb09-en0009-33-5110' of query '20002' 2 times (0, 0), as in 1,313 other cases" in ringtrue(*words).err
    found = ringtrue(*words, "--repeats", "all", "--json").json
    assert (found["votes"], len(found["judges"]), found["labels"]) == (91_783, 762, [0, 1, 2])
    assert len([label for label in found["gold"] if label is not None]) == 3_275
    assert found["notes"] == [
        f"{labels}: 6,670 labels below 0 ('not judged') left out; --scale LABELS declares such labels",
        f"{labels}, gold: 5,644 labels below 0 ('not judged') left out; --scale LABELS declares such labels",
    ]


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
    assert refused.code == 1
    assert "5 by RMITIR-llama70B (2 times), 10 by h2oloo-zeroshot2; --outside exclude leaves them out" in refused.err
    assert ringtrue(*words, "--scale", "0-3", "--outside", "clip").json["votes"] == 145_959
    assert ringtrue(*words, "--scale", "0-3", "--outside", "exclude").json["votes"] == 145_956


@pytest.mark.real
def test_preferences_whose_query_has_another_name(folder: Path, ringtrue: Call, data: Path) -> None:
    refused = ringtrue("labels", f"{data}/arena/llmfao.csv")
    assert "--columns query=NAME" in refused.err
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
