"""`ringtrue report` and `ringtrue plot`."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from ringtrue.report.build import FIGURES

RUNS = ("d/hybrid.run", "d/keyword.run", "d/neural.run")
RUN_AND_GOLD = ("d/neural.run", "--judgments", "d/gold.qrels")
EVERYTHING = (
    *RUNS, "--judgments", "d/bronze.qrels", "--gold", "d/sample.csv", "--labels", "d/crowd.csv", "--traps",
    "d/traps.csv", "--preferences", "d/preferences.csv", "-m", "P(rel=2)@10", "--rel", "2",
)  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, demo_files: Path) -> Path:
    """A folder with the files of the demo in `d`."""
    folder = tmp_path_factory.mktemp("report")
    shutil.copytree(demo_files, folder / "d")
    gold, sample, votes, crowd = (
        (folder / "d" / name).read_text().splitlines(keepends=True)
        for name in ("gold.qrels", "sample.csv", "preferences.csv", "crowd.csv")
    )
    neural = (folder / "d" / "neural.run").read_text().splitlines(keepends=True)
    given = [f"{judge},u{doc},{(judge + doc) % 3 > 0:d}\n" for judge in range(4) for doc in range(30)]
    known = [f"u{doc},1\n" for doc in range(6)]
    made = {
        "some.run": [line for line in neural if not line.startswith(("q001 ", "q002 ", "q003 "))],
        "other.qrels": [f"x{line}" for line in gold],
        "twice.qrels": [*gold, gold[0].rsplit(" ", 1)[0] + " 3\n"],
        "lost.csv": sample[:4],
        "again.csv": [*crowd, crowd[1]],
        "voted.csv": [*votes, votes[1]],
        "nameless.csv": ["judge,doc,label\n", *given],
        "odd.csv": ["worker,page,stars\n", *given],
        "known.csv": ["doc,label\n", *known],
        "oddly-known.csv": ["page,stars\n", *known],
    }  # fmt: skip
    for name, lines in made.items():
        (folder / name).write_text("".join(lines))
    return folder


@pytest.fixture
def here(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(world)
    return world


@pytest.mark.slow
def test_everything_is_on_one_page(here: Path, ringtrue) -> None:
    answer = ringtrue("report", *EVERYTHING, "-o", "all.html", "--json").json
    assert answer["report"] == "all.html"
    assert set(answer["figures"]) == set(FIGURES)
    assert "corrected" in answer["answers"][0]  # what gold changes is the first thing to read
    page = Path("all.html").read_text()
    assert all(f'id="figure-{name}"' in page for name in FIGURES)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert "<script" not in page


@pytest.mark.slow
def test_the_same_question_gives_the_same_page(here: Path, ringtrue) -> None:
    words = ("report", *RUNS, "--judgments", "d/gold.qrels", "-m", "nDCG@10")
    for name in ("one.html", "two.html"):
        ringtrue(*words, "-o", name)
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


@pytest.mark.slow
def test_sections_appear_for_what_is_given(here: Path, ringtrue) -> None:
    runs = ringtrue("report", *RUNS, "--judgments", "d/gold.qrels", "--json").json
    assert "forest" in runs["figures"]
    assert "ratings" not in runs["figures"]
    votes = ringtrue("report", "--preferences", "d/preferences.csv", "--json").json
    assert votes["figures"] == ["judges", "ratings"]
    assert set(votes["absent_codes"].values()) == {"not-given"}
    crowd = ringtrue("report", "--labels", "d/crowd.csv", "--traps", "d/traps.csv", "--json").json
    assert {"agreement", "judges", "traps", "weights"} <= set(crowd["figures"])


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_what_is_printed_is_for_people(here: Path, ringtrue) -> None:
    told = ringtrue("report", *RUNS, "--judgments", "d/gold.qrels", "-o", "p.html").out
    assert "neural" in told.splitlines()[0]
    assert "p.html" in told.splitlines()[-1]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    ("words", "exit_code", "code", "value"),
    [
        (("report",), 2, "nothing-to-report", ""),
        (("report", "d/neural.run"), 2, "runs-without-judgments", "--judgments FILE"),
        (("report", "--judgments", "d/gold.qrels"), 2, "judgments-without-runs", ""),
        (("report", "--labels", "d/crowd.csv", "--gold", "d/sample.csv"), 2, "gold-without-runs", "--gold"),
        (("report", "--preferences", "missing.csv"), 1, "no-such-file", "missing.csv"),
        (("report", "--traps", "d/traps.csv", *RUN_AND_GOLD), 2, "traps-without-labels", "--labels FILE"),
        (("report", *RUN_AND_GOLD, "-o", "x.pdf"), 2, "bad-suffix", ".html"),
        (("report", *RUN_AND_GOLD, "-o", "no/where.html"), 1, "no-such-folder", "no/where.html"),
        (("report", *RUN_AND_GOLD, "-m", "nDGC"), 2, "unknown-measure", "nDCG"),
        (("report", *RUNS, "--judgments", "d/neural.run"), 1, "other-kind", "d/neural.run"),
        (("report", *RUNS, "--judgments", "-", "--labels", "-"), 2, "input-read-twice", ""),
        (("plot", "fores", *RUN_AND_GOLD), 2, "no-such-figure", "'forest'"),
        (("plot", "ratings", *RUN_AND_GOLD), 2, "not-given", "ratings"),
        (("plot", "forest", *RUN_AND_GOLD, "-o", "x.gif"), 2, "bad-suffix", ".pdf"),
        (("plot", "forest", *RUN_AND_GOLD, "-o", "d/gold.qrels"), 2, "overwrites-input", "d/gold.qrels"),
        (("plot", "forest", *RUN_AND_GOLD, "--width", "0"), 2, "bad-value", "width"),
        (("plot", "traps", "--labels", "d/crowd.csv"), 2, "not-given", "--traps FILE"),
        (("plot", "confusion-by-judge", "--preferences", "d/preferences.csv"), 2, "not-given", "--labels FILE"),
        (("report", "--labels", "odd.csv"), 1, "unknown-columns", "--label-columns"),
        (("report", "--labels", "d/crowd.csv", "--label-columns", "label=stars"), 2, "unknown-column", "stars"),
        (("report", *RUN_AND_GOLD, "--label-where", "a=b"), 2, "choice-without-labels", "--labels"),
        (("report", "--labels", "d/gold.qrels"), 1, "one-judge", "d/gold.qrels"),
        (("plot", "agreement", "--labels", "d/gold.qrels"), 1, "one-judge", "d/gold.qrels"),
        (("report", *RUN_AND_GOLD, "--truth", "twice.qrels"), 1, "repeated-label", "twice.qrels"),
    ],
)  # fmt: skip
def test_bad_input_is_told_in_one_line(
    here: Path, ringtrue, words: tuple[str, ...], exit_code: int, code: str, value: str
) -> None:
    answer = ringtrue(*words)
    assert answer.code == exit_code
    assert value in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""
    error = json.loads(ringtrue(*words, "--json").err.splitlines()[-1])["error"]
    assert error["code"] == code


@pytest.mark.parametrize(("suffix", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_figure_is_written_for_papers(here: Path, ringtrue, suffix: str, begins: bytes) -> None:
    path = f"forest.{suffix}"
    words = ("plot", "forest", *RUNS, "--judgments", "d/gold.qrels", "-m", "nDCG@10", "-o", path, "--json")
    answer = ringtrue(*words).json
    assert Path(path).read_bytes().startswith(begins)
    assert (answer["plot"], answer["figure"], answer["table"]["rows"][0][0]) == (path, "forest", "neural")


@pytest.mark.slow
@pytest.mark.parametrize("figure", sorted(FIGURES))
def test_every_figure_can_be_had_alone(here: Path, ringtrue, figure: str) -> None:
    answer = ringtrue("plot", figure, *EVERYTHING, "-o", f"{figure}.svg", "--json").json
    assert answer["sentence"].endswith(".")
    assert answer["table"]["rows"]
    assert json.dumps(answer)
    assert Path(f"{figure}.svg").stat().st_size > 1_000


@pytest.mark.parametrize(
    "words",
    [
        (*RUNS, "--judgments", "other.qrels"),
        (*RUNS, "--judgments", "twice.qrels"),
        (*RUNS, "--judgments", "d/crowd.csv"),
        (*RUNS, "--judgments", "d/bronze.qrels", "--gold", "lost.csv", "-m", "P(rel=2)@10"),
        (*RUNS, "--judgments", "d/bronze.qrels", "--gold", "d/sample.csv", "-m", "P(rel=2)@10", "--missing", "skip"),
        (*RUNS, "--judgments", "d/bronze.qrels", "--gold", "d/sample.csv", "-m", "P(rel=2)@10", "--depth", "3"),
        (*RUNS, "--judgments", "d/bronze.qrels", "--gold", "d/sample.csv", "-m", "P@5", "--compat", "trec_eval-9"),
        (*RUNS, "--judgments", "d/bronze.qrels", "--gold", "d/sample.csv", "-m", "P@5", "--judges", "average"),
        (*RUNS, "--judgments", "d/bronze.qrels", "--gold", "d/sample.csv", "-m", "P@5", "--collection-size", "9999"),
    ],
)  # fmt: skip
def test_what_evaluate_refuses_is_refused_in_the_same_words(here: Path, ringtrue, words: tuple[str, ...]) -> None:
    refused = ringtrue("evaluate", *words)
    assert refused.code in (1, 2)
    for command in (("report",), ("plot", "forest")):
        answer = ringtrue(*command, *words, "-o", "never.html" if command == ("report",) else "never.svg")
        assert (answer.code, answer.err.splitlines()[-1]) == (refused.code, refused.err.splitlines()[-1])
    assert not Path("never.html").exists()


@pytest.mark.parametrize(
    ("measure", "judgments", "option"),
    [
        ("nDCG@10", "d/gold.qrels", ("--missing", "skip")),
        ("nDCG@10", "d/gold.qrels", ("--depth", "3")),
        ("IPrec@0.33", "d/gold.qrels", ("--compat", "trec_eval-10")),
        ("AUC", "d/gold.qrels", ("--collection-size", "5000")),
        ("P@10", "d/crowd.csv", ("--judges", "average")),
        ("P@10", "d/crowd.csv", ("--judge", "w07")),
        ("nDCG@10", "twice.qrels", ("--repeats", "first")),
        ("P@10", "d/gold.qrels", ("--rel", "2")),
    ],
)
def test_the_page_counts_as_evaluate_does(
    here: Path, ringtrue, measure: str, judgments: str, option: tuple[str, ...]
) -> None:
    words = ("some.run", "d/keyword.run", "--judgments", judgments, "-m", measure)
    usual = ringtrue("evaluate", *words, "--json")
    means = ringtrue("evaluate", *words, *option, "--json").json["runs"]
    expected = {run: next(iter(row.values()))["value"] for run, row in means.items()}
    table = ringtrue("plot", "forest", *words, *option, "--json").json["table"]
    assert {row[0]: float(row[1].split()[0]) for row in table["rows"]} == pytest.approx(expected, abs=0.006)
    if usual.code == 0:  # so that the option says something at all
        before = {run: next(iter(row.values()))["value"] for run, row in usual.json["runs"].items()}
        assert before != pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("option", [("--missing", "skip"), ("--depth", "5"), ("--collection-size", "5000")])
def test_curves_are_those_of_the_command(here: Path, ringtrue, option: tuple[str, ...]) -> None:
    words = ("some.run", "d/keyword.run", "--judgments", "d/gold.qrels", *option, "--json")
    command = ringtrue("curve", *words, "--kind", "roc").json["runs"]
    drawn = ringtrue("plot", "roc", *words).json["table"]["rows"]
    assert {row[0]: float(row[1]) for row in drawn} == pytest.approx(
        {run: one["area"] for run, one in command.items()}, abs=1e-4
    )


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_the_page_says_how_runs_were_counted_and_where_they_were_not(here: Path, ringtrue) -> None:
    words = ("report", *RUNS, "--judgments", "d/gold.qrels", "-m", "nDCG@10", "-o", "how.html")
    ringtrue(*words, "--depth", "3")
    cut = Path("how.html").read_text()
    ringtrue(*words)
    usual = Path("how.html").read_text()
    assert (cut.count("cut at rank 3"), usual.count("cut at rank 3")) == (2, 0)  # above all, and in a section


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_labels_and_traps_without_a_query_and_with_names_of_their_own_are_read(here: Path, ringtrue) -> None:
    answer = ringtrue("report", "--labels", "nameless.csv", "--traps", "known.csv", "--json").json
    assert {"agreement", "traps"} <= set(answer["figures"])
    assert "no-query-column" in answer["note_codes"]
    columns = ("--label-columns", "judge=worker,doc=page,label=stars")
    named = ringtrue("report", "--labels", "odd.csv", "--traps", "oddly-known.csv", *columns, "--json").json
    assert named["answers"] == answer["answers"]


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_where_a_judge_said_two_things_somebody_has_to_choose(here: Path, ringtrue) -> None:
    for option, name in (("--labels", "again.csv"), ("--preferences", "voted.csv")):
        refused = ringtrue("report", option, name, "--json")
        error = json.loads(refused.err.splitlines()[-1])["error"]
        assert (refused.code, error["code"], error["parameter"], error["file"]) == (
            1, "repeated-labels", "repeats", name,
        )  # fmt: skip
    for choice in ("first", "last", "all"):
        assert "agreement" in ringtrue("report", "--labels", "again.csv", "--repeats", choice, "--json").json["figures"]
        words = ("report", "--preferences", "voted.csv", "--repeats", choice, "--json")
        assert "ratings" in ringtrue(*words).json["figures"]
    beside = ringtrue("report", *RUNS, "--judgments", "d/gold.qrels", "--labels", "again.csv", "--json").json
    assert "repeated-labels" in beside["absent_codes"].values()
    one_of_two = ringtrue("plot", "ratings", "--labels", "d/crowd.csv", "--preferences", "voted.csv", "--json")
    error = json.loads(one_of_two.err.splitlines()[-1])["error"]
    assert (one_of_two.code, error["code"], error["file"]) == (1, "repeated-labels", None)
    both = (*RUNS, "--judgments", "twice.qrels", "--repeats", "all", "--json")
    refused = ringtrue("report", *both)
    assert (refused.code, json.loads(refused.err.splitlines()[-1])["error"]["code"]) == (1, "repeated-label")
