"""`ringtrue compare`: the contract that scripts rely on, and what people read."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest
from scipy import stats

KEYS = ["measure", "a", "b", "difference", "p_value", "p_adjusted", "test", "effect_size", "wins", "ties", "losses",
        "naive", "notes"]  # fmt: skip
ESTIMATE = ["value", "se", "low", "high", "level", "n", "method", "notes", "note_codes"]
RANKS = {  # where the one relevant document of q1, q2, … stands
    "good": [1, 1, 2, 1, 1, 1, 2, 1],
    "fair": [2, 1, 2, 3, 2, 1, 4, 2],
    "poor": [3, 2, 5, 4, 2, 3, 4, 5],
}
WORDS = ("--judgments", "r.qrels", "-m", "RR")


def run_text(ranks: list[int], tag: str, first: int = 1) -> str:
    lines = []
    for query, at in enumerate(ranks, start=first):
        docs = [f"n{place}" for place in range(1, 6)]
        docs.insert(at - 1, "rel")
        lines += [f"q{query} Q0 {doc} {rank} {10 - rank} {tag}" for rank, doc in enumerate(docs, start=1)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def arena(world: Path) -> Path:
    """Three runs over eight queries, of which each has one relevant document, and topics of two kinds."""
    for name, ranks in RANKS.items():
        Path(f"{name}.run").write_text(run_text(ranks, name.upper()))
    Path("r.qrels").write_text("".join(f"q{i} 0 rel 1\nq{i} 0 n1 0\n" for i in range(1, 9)))
    kinds = "".join(f"q{i},{'long' if i % 2 else 'short'},what is {i}?\n" for i in range(1, 9))
    Path("topics.csv").write_text("query,kind,title\n" + kinds)
    return world


def rr(name: str) -> list[float]:
    return [1 / rank for rank in RANKS[name]]


def test_json_has_every_key_of_the_contract(arena: Path, ringtrue) -> None:
    answer = ringtrue("compare", "good.run", "poor.run", *WORDS, "--json")
    assert answer.code == 0
    (one,) = answer.json["comparisons"]
    assert [key for key in KEYS if key not in one] == []
    assert list(one["difference"]) == ESTIMATE
    assert one["naive"] == {"difference": one["difference"], "p_value": one["p_value"]}
    assert (one["measure"], one["a"], one["b"], one["test"]) == ("RR", "good", "poor", "t")
    assert (one["wins"], one["ties"], one["losses"]) == (8, 0, 0)
    theirs = stats.ttest_rel(rr("good"), rr("poor"))
    assert one["p_value"] == one["p_adjusted"] == pytest.approx(theirs.pvalue, rel=1e-10)
    interval = theirs.confidence_interval()
    estimate = one["difference"]
    assert (estimate["low"], estimate["high"]) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert (estimate["n"], estimate["level"], estimate["method"]) == (8, 0.95, "t")
    assert answer.json["runs"]["good"]["RR"]["value"] == pytest.approx(sum(rr("good")) / 8)
    assert ("one comparison" in answer.json["family"], "Holm" in answer.json["family"]) == (True, False)
    assert answer.json["test"] == "paired t test"
    assert answer.json["missing"] == {}


def test_all_pairs_are_compared_by_every_measure(arena: Path, ringtrue) -> None:
    words = ("compare", "good.run", "fair.run", "poor.run", *WORDS, "-m", "nDCG@3,P@1", "--json")
    found = ringtrue(*words).json["comparisons"]
    assert [(one["measure"], one["a"], one["b"]) for one in found] == [
        (measure, a, b)
        for measure in ("RR", "nDCG@3", "P@1")
        for a, b in (("good", "fair"), ("good", "poor"), ("fair", "poor"))
    ]
    together = ringtrue(*words, "--family", "all")
    separate = ringtrue(*words)
    assert [answer.json["family"].split()[0] for answer in (together, separate)] == ["Holm", "Holm"]
    assert "9 comparisons" in together.json["family"]
    assert "3 pairs " in separate.json["family"]


def test_without_a_measure_the_usual_one_is_taken(arena: Path, ringtrue) -> None:
    answer = ringtrue("compare", "good.run", "poor.run", "--judgments", "r.qrels", "--json")
    assert [one["measure"] for one in answer.json["comparisons"]] == ["nDCG@10"]


@pytest.mark.parametrize("baseline", ["fair", "fair.run"])
def test_a_baseline_is_given_by_name_or_by_file(arena: Path, ringtrue, baseline: str) -> None:
    answer = ringtrue("compare", "good.run", "fair.run", "poor.run", *WORDS, "--baseline", baseline, "--json")
    assert [(one["a"], one["b"]) for one in answer.json["comparisons"]] == [("good", "fair"), ("poor", "fair")]
    values = [one["difference"]["value"] for one in answer.json["comparisons"]]
    assert values[0] > 0 > values[1]


def test_a_baseline_may_be_a_file_that_is_not_among_the_runs(arena: Path, ringtrue) -> None:
    answer = ringtrue("compare", "good.run", *WORDS, "--baseline", "poor.run", "--json")
    assert [(one["a"], one["b"]) for one in answer.json["comparisons"]] == [("good", "poor")]
    several = ringtrue("compare", "good.run", *WORDS, "--baseline", "poor.run", "--baseline", "fair.run", "--json")
    assert [(one["a"], one["b"]) for one in several.json["comparisons"]] == [
        ("good", "poor"), ("good", "fair"), ("poor", "fair"),
    ]  # fmt: skip


def test_a_baseline_is_known_by_its_tag_where_runs_are_called_so(arena: Path, ringtrue) -> None:
    words = ("compare", "good.run", "fair.run", *WORDS, "--name", "tag", "--json")
    for baseline in ("FAIR", "fair.run"):
        found = ringtrue(*words, "--baseline", baseline).json["comparisons"]
        assert [(one["a"], one["b"]) for one in found] == [("GOOD", "FAIR")]
    from_file = ringtrue(*words, "--baseline", "poor.run").json["comparisons"]
    assert [(one["a"], one["b"]) for one in from_file] == [("GOOD", "POOR"), ("FAIR", "POOR")]
    wrong = ringtrue(*words, "--baseline", "FIAR")
    assert (wrong.stop, "'FAIR'?" in wrong.error["message"]) == ((2, "unknown-run", "baseline"), True)


@pytest.mark.parametrize(
    ("words", "error", "near"),
    [
        (("--baseline", "fiar"), ("unknown-run", "baseline"), "'fair'"),
        (("--baseline", "xyzzy"), ("unknown-run", "baseline"), ""),
        (("--mid-p",), ("unused-parameter", "mid_p"), ""),
        (("--test", "anova"), ("bad-value", "test"), ""),
        (("--adjust", "bonferroni"), ("bad-value", "adjust"), ""),
        (("--adjust", "tukey", "--test", "welch"), ("tukey-of-unpaired", "adjust"), ""),
        (("--adjust", "tukey", "--family", "all"), ("tukey-of-measures", "family"), ""),
        (("--adjust", "tukey", "--topics", "topics.csv", "--by", "kind"), ("conflicting-parameters", "adjust"), ""),
        (("--resamples", "99"), ("bad-resamples", "resamples"), ""),
        (("--level", "95"), ("bad-level", "level"), ""),
        (("--level", "0.9999999"), ("bad-level", "level"), ""),
        (("--seed", "-1"), ("bad-value", "seed"), ""),
        (("-m", "nDGC@10"), ("unknown-measure", "measure"), "'nDCG@10'"),
        (("-m", ""), ("no-measure", "measure"), ""),
        (("--topics", "topics.csv", "--by", "knd"), ("unknown-column", "by"), "'kind'"),
        (("--by", "kind"), ("unknown-column", "by"), ""),
        (("--test", "t", "--test", "sign"), ("repeated-parameter", "test"), ""),
        (("--layout", "matrix"), ("bad-value", "layout"), ""),
    ],
)
def test_wrong_usage_brings_exit_2_and_the_near_miss(
    arena: Path, ringtrue, words: tuple[str, ...], error: tuple[str, str | None], near: str
) -> None:
    measure = () if "-m" in words else ("-m", "RR")
    answer = ringtrue("compare", "good.run", "fair.run", "--judgments", "r.qrels", *measure, *words, "--json")
    assert answer.stop == (2, *error)
    assert near in answer.error["message"]


def test_csv_is_one_table(arena: Path, ringtrue) -> None:
    words = ("--topics", "topics.csv", "--by", "kind", "--per-query", "--format", "csv")
    answer = ringtrue("compare", "good.run", "fair.run", *WORDS, *words)
    assert (answer.code, answer.out, "--per-query" in answer.err) == (2, "", True)


@pytest.mark.parametrize(
    "runs", [("good.run",), ("good.run", "--baseline", "good"), ("good.run", "--baseline", "good.run")]
)
def test_one_run_is_none_to_compare(arena: Path, ringtrue, runs: tuple[str, ...]) -> None:
    answer = ringtrue("compare", *runs, *WORDS, "--json")
    assert answer.stop == (2, "needs-two-runs", "runs")
    assert "good.run" in answer.error["message"]


def test_the_same_file_twice_is_refused(arena: Path, ringtrue) -> None:
    answer = ringtrue("compare", "good.run", "good.run", *WORDS, "--json")
    assert (answer.stop, "good.run" in answer.error["message"]) == ((2, "repeated-run", "runs"), True)


@pytest.mark.parametrize("words", [("nowhere.run", "good.run"), ("good.run", "topics.csv")])
def test_a_file_that_cannot_be_read_as_a_run_brings_exit_1_and_one_line(arena: Path, ringtrue, words) -> None:
    answer = ringtrue("compare", *words, *WORDS, "--json")
    assert (answer.code, len(answer.err.splitlines())) == (1, 1)
    assert ("nowhere.run" if "nowhere.run" in words else "topics.csv") in answer.error["message"]


@pytest.mark.parametrize(
    ("words", "test", "told"),
    [
        (("--test", "t"), "t", "paired t test"),
        (("--test", "permutation"), "permutation", "permutation test (exact: all sign flips)"),
        (("--test", "permutation", "--resamples", "100"), "permutation", "permutation test (100 resamples)"),
        (("--test", "bootstrap", "--resamples", "400"), "bootstrap", "bootstrap (400 resamples, BCa)"),
        (("--test", "sign"), "sign", "exact sign test"),
        (("--test", "sign", "--mid-p"), "sign", "exact sign test, mid-p"),
        (("--test", "wilcoxon"), "wilcoxon", "Wilcoxon's signed-rank test"),
        (("--test", "welch"), "welch", "Welch's t test, unpaired"),
    ],
)
def test_every_test_can_be_asked_for_and_is_named(arena: Path, ringtrue, words, test: str, told: str) -> None:
    call = ("compare", "good.run", "poor.run", *WORDS, *words)
    answer = ringtrue(*call, "--json")
    assert answer.json["test"] == told
    assert answer.json["comparisons"][0]["test"] == test
    expected = {
        "t": stats.ttest_rel(rr("good"), rr("poor")).pvalue,
        "welch": stats.ttest_ind(rr("good"), rr("poor"), equal_var=False).pvalue,
        "sign": 2**-8 if "--mid-p" in words else 2**-7,
        "wilcoxon": 2**-7,
    }
    if test in expected:
        assert answer.json["comparisons"][0]["p_value"] == pytest.approx(expected[test], rel=1e-9)
    assert f"p: {told}; adjusted: {answer.json['family']}" in ringtrue(*call).out


@pytest.mark.parametrize(
    ("adjust", "told"),
    [
        ("holm", "Holm over the 3 pairs"),
        ("bh", "Benjamini–Hochberg over the 3 pairs"),
        ("tukey", "randomised Tukey HSD (200 resamples, a test of its own) over the 3 pairs"),
        ("none", "not adjusted; were all runs equal, about 0.15 of the 3 pairs would look decided"),
    ],
)
def test_every_adjustment_can_be_asked_for_and_is_named(arena: Path, ringtrue, adjust: str, told: str) -> None:
    call = ("compare", "good.run", "fair.run", "poor.run", *WORDS, "--adjust", adjust, "--resamples", "200")
    answer = ringtrue(*call, "--json").json
    assert (answer["adjust"], answer["family"]) == (adjust, told)
    assert told in ringtrue(*call).out
    adjusted, p = ([one[key] for one in answer["comparisons"]] for key in ("p_adjusted", "p_value"))
    assert (adjusted == p) == (adjust == "none")


def test_the_level_is_that_of_intervals_and_marks(arena: Path, ringtrue) -> None:
    call = ("compare", "good.run", "fair.run", *WORDS)
    p = ringtrue(*call, "--json").json["comparisons"][0]["p_value"]
    assert 0.001 < p < 0.05
    usual, strict = ringtrue(*call).out, ringtrue(*call, "--level", "0.999").out
    assert "95% interval" in usual
    assert "99.9% interval" in strict
    assert "▲" in usual.splitlines()[2]
    assert "▲" not in strict.splitlines()[2]
    assert "adjusted p < 0.001" in strict


def test_the_same_seed_gives_the_same_answer(arena: Path, ringtrue) -> None:
    for how in (("--test", "bootstrap"), ("--adjust", "tukey"), ("--test", "permutation", "--resamples", "100")):
        words = ("compare", "good.run", "fair.run", "poor.run", *WORDS, *how, "--json")
        first, again, other = (ringtrue(*words, "--seed", seed) for seed in ("1", "1", "2"))
        assert first.out == again.out
        assert first.json["seed"] == 1
        assert first.json["comparisons"] != other.json["comparisons"]


def test_the_table_explains_its_columns_its_marks_and_the_answer(arena: Path, ringtrue) -> None:
    out = ringtrue("compare", "good.run", "poor.run", *WORDS).out
    lines = out.splitlines()
    assert lines[0].split() == ["measure", "a", "b", "a", "−", "b", "95%", "interval", "p", "adjusted", "effect",
                                "wins/ties/losses", "detectable"]  # fmt: skip
    assert lines[2].split()[:3] == ["RR", "good", "poor"]
    assert all(cell in lines[2] for cell in ("+0.", "8/0/0", "▲"))
    legend = [line.partition(": ")[0] for line in lines if ": " in line]
    assert {"a − b", "p", "effect", "RR"} <= set(legend)
    assert any("▲" in name and "▼" in name for name in legend)
    assert all(part in out for part in ("over 8 queries; ", " p < 0.05", "RR: good (0.8750) "))


def test_a_run_that_is_worse_is_marked_so(arena: Path, ringtrue) -> None:
    out = ringtrue("compare", "poor.run", "good.run", *WORDS).out
    assert "▼" in out.splitlines()[2]
    assert "RR: good (0.8750) " in out


def test_what_is_not_decided_says_so(arena: Path, ringtrue) -> None:
    Path("other.run").write_text(run_text([1, 2, 1, 2, 1, 2, 1, 2], "x"))
    out = ringtrue("compare", "good.run", "other.run", *WORDS).out
    assert ("not decided: " in out, "better than" in out) == (True, False)
    (one,) = ringtrue("compare", "good.run", "other.run", *WORDS, "--json").json["comparisons"]
    assert (one["note_codes"][0], "8 such queries" in one["notes"][0]) == ("not-decided", True)


def test_the_columns_of_a_table_stand_below_each_other(arena: Path, ringtrue) -> None:
    lines = ringtrue("compare", "good.run", "fair.run", "poor.run", *WORDS, "-m", "nDCG@3").out.splitlines()
    ends = [match.end() for match in re.finditer("─+", lines[1])]
    for line in lines[2:8]:
        for end in ends[:-1]:
            assert line[end : end + 2].strip() == ""


def test_many_pairs_are_shown_run_by_run_unless_asked_otherwise(arena: Path, ringtrue) -> None:
    for i in range(6):
        Path(f"r{i}.run").write_text(run_text([min(5, 1 + i + (q + i) % 2) for q in range(8)], "x"))
    runs = [f"r{i}.run" for i in range(6)]
    out = ringtrue("compare", *runs, *WORDS).out
    lines = out.splitlines()
    assert lines[0].split() == ["nr", "run", "RR", "better", "than"]
    assert [line.split()[1] for line in lines[2:8]] == ["r0", "r1", "r2", "r3", "r4", "r5"]
    assert lines[2].endswith("3–6")
    assert "--layout pairs" in out
    pairs = ringtrue("compare", *runs, *WORDS, "--layout", "pairs").out
    assert sum(line.startswith("RR ") for line in pairs.splitlines()) == 15
    few = ringtrue("compare", *runs[:2], *WORDS, "--layout", "runs").out
    assert few.splitlines()[0].split() == ["nr", "run", "RR", "better", "than"]


def test_csv_keeps_every_digit(arena: Path, ringtrue) -> None:
    words = ("compare", "good.run", "fair.run", "poor.run", *WORDS)
    rows = list(csv.DictReader(io.StringIO(ringtrue(*words, "--format", "csv").out)))
    found = ringtrue(*words, "--json").json["comparisons"]
    assert len(rows) == 3
    for row, one in zip(rows, found, strict=True):
        assert (row["a"], row["b"], row["measure"], row["test"]) == (one["a"], one["b"], "RR", "t")
        for key in ("p_value", "p_adjusted", "effect_size", "detectable"):
            assert float(row[key]) == one[key]
        for key in ("se", "low", "high"):
            assert float(row[key]) == one["difference"][key]
        assert float(row["difference"]) == one["difference"]["value"]
        assert int(row["wins"]) == one["wins"]


def markdown_columns(text: str) -> list[list[int]]:
    """How many columns each line of each table has."""
    tables: list[list[int]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            tables[-1].append(len(re.findall(r"(?<!\\)\|", line)))
        elif tables[-1]:
            tables.append([])
    return [table for table in tables if table]


MODES = [
    (),
    ("--layout", "runs"),
    ("--per-query",),
    ("--per-query", "--topics", "topics.csv"),
    ("--topics", "topics.csv", "--by", "kind"),
]


@pytest.mark.parametrize("mode", MODES)
def test_markdown_tables_have_as_many_columns_in_every_line(arena: Path, ringtrue, mode: tuple[str, ...]) -> None:
    Path("a|b.run").write_text(Path("fair.run").read_text())
    answer = ringtrue("compare", "good.run", "a|b.run", *WORDS, *mode, "--format", "markdown")
    assert answer.code == 0
    tables = markdown_columns(answer.out)
    assert tables
    for table in tables:
        assert len(table) > 2
        assert len(set(table)) == 1
    assert "a\\|b" in answer.out


@pytest.mark.parametrize("mode", MODES)
def test_latex_tables_are_whole_with_rules_of_booktabs(arena: Path, ringtrue, mode: tuple[str, ...]) -> None:
    Path("x_&%$#{y}^~\\<1>.run").write_text(Path("fair.run").read_text())
    answer = ringtrue("compare", "good.run", "x_&%$#{y}^~\\<1>.run", *WORDS, *mode, "--format", "latex")
    assert answer.code == 0
    lines = [line for line in answer.out.splitlines() if line and not line.startswith("%")]
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert lines.count(rule) == answer.out.count(r"\begin{tabular}") > 0
    width = 0
    for line in lines:
        begins = re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", line)
        width = len(begins[1]) if begins else width
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) == width - 1
        bare = re.sub(r"\\[{}]", "", line)
        assert bare.count("{") == bare.count("}")
        assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0
        assert not re.search(r"(?<!\\)[_%#^~]", line)
    name = r"x\_\&\%\$\#\{y\}\textasciicircum{}\textasciitilde{}\textbackslash{}$<$1$>$"
    assert name in answer.out


def test_the_marks_are_symbols_in_latex(arena: Path, ringtrue) -> None:
    better = ringtrue("compare", "good.run", "poor.run", *WORDS, "--format", "latex").out
    worse = ringtrue("compare", "poor.run", "good.run", *WORDS, "--format", "latex").out
    assert r"& $\blacktriangle$ &" in better
    assert r"& $\blacktriangledown$ &" in worse
    assert "$-$0." in worse


def test_every_query_can_be_seen_the_largest_difference_first(arena: Path, ringtrue) -> None:
    words = ("compare", "good.run", "fair.run", *WORDS, "--per-query")
    queries = ringtrue(*words, "--json").json["comparisons"][0]["queries"]
    assert [list(one) for one in queries] == [["query", "a", "b", "difference"]] * 8
    assert {one["query"]: one["difference"] for one in queries} == pytest.approx(
        {f"q{i}": a - b for i, (a, b) in enumerate(zip(rr("good"), rr("fair"), strict=True), start=1)}
    )
    seen = [one["difference"] for one in queries]
    assert seen == sorted(seen, reverse=True)
    rows = list(csv.DictReader(io.StringIO(ringtrue(*words, "--format", "csv").out)))
    assert list(rows[0]) == ["measure", "a", "b", "query", "a_value", "b_value", "difference"]
    assert [float(row["difference"]) for row in rows] == seen
    table = ringtrue(*words)
    assert table.out.splitlines()[0].split() == ["query", "good", "fair", "difference"]
    assert table.out.splitlines()[2].split()[:4] == ["q4", "1.0000", "0.3333", "+0.6667"]
    assert "every query; " in table.out


def test_what_was_asked_stands_beside_the_query(arena: Path, ringtrue) -> None:
    words = ("compare", "good.run", "fair.run", *WORDS, "--topics", "topics.csv")
    assert "q4     what is 4?" in ringtrue(*words, "--per-query").out
    assert "q4     what is 4?" in ringtrue(*words).out
    assert "what is" not in ringtrue("compare", "good.run", "fair.run", *WORDS).out


def test_a_breakdown_by_a_column_of_the_topics(arena: Path, ringtrue) -> None:
    words = ("compare", "good.run", "fair.run", "poor.run", *WORDS, "--topics", "topics.csv", "--by", "kind")
    answer = ringtrue(*words, "--json").json
    assert list(answer["groups"]) == ["long", "short"]
    assert len(answer["comparisons"]) == 3
    found = [one for group in answer["groups"].values() for one in group["comparisons"]]
    assert [one["difference"]["n"] for one in found] == [4] * 6
    assert [key for key in KEYS if key not in found[0] and key != "naive"] == []
    family = answer["groups"]["long"]["family"]
    assert [word for word in family.split() if word.isdecimal()] == ["6", "2"]
    odd = stats.ttest_rel(rr("good")[::2], rr("fair")[::2]).pvalue
    assert found[0]["p_value"] == pytest.approx(odd, rel=1e-9)
    table = ringtrue(*words).out
    assert table.splitlines()[0].split()[:5] == ["kind", "queries", "measure", "a", "b"]
    assert family in table
    rows = list(csv.DictReader(io.StringIO(ringtrue(*words, "--format", "csv").out)))
    assert [row["kind"] for row in rows] == ["long"] * 3 + ["short"] * 3
    assert float(rows[0]["p_value"]) == found[0]["p_value"]


def test_a_breakdown_by_a_column_of_the_judgments(arena: Path, ringtrue) -> None:
    rows = [f"q{i},{doc},{label},{'new' if i > 4 else 'old'}" for i in range(1, 9) for doc, label in (("rel", 1),)]
    Path("r.csv").write_text("query,doc,label,age\n" + "\n".join(rows) + "\n")
    answer = ringtrue("compare", "good.run", "fair.run", "--judgments", "r.csv", "-m", "RR", "--by", "age", "--json")
    assert {age: group["comparisons"][0]["difference"]["n"] for age, group in answer.json["groups"].items()} == {
        "new": 4,
        "old": 4,
    }


def test_a_breakdown_and_every_query_go_together_in_json(arena: Path, ringtrue) -> None:
    words = ("--topics", "topics.csv", "--by", "kind", "--per-query", "--json")
    answer = ringtrue("compare", "good.run", "fair.run", *WORDS, *words)
    assert len(answer.json["comparisons"][0]["queries"]) == 8
    assert list(answer.json["groups"]) == ["long", "short"]


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_runs_that_share_no_query_bring_exit_1_and_what_each_lacks(arena: Path, ringtrue, missing: str) -> None:
    Path("first.run").write_text(run_text([1, 2], "x"))
    Path("last.run").write_text(run_text([1, 2, 1, 1, 1, 3], "x", first=3))
    answer = ringtrue("compare", "first.run", "last.run", *WORDS, "--missing", missing, "--json")
    assert answer.stop == (1, "no-common-query", None)
    assert all(part in answer.error["message"] for part in ("q3, q4, q5 and 3 more", "q1, q2", "--test welch"))


def test_few_shared_queries_are_noted_with_what_each_run_lacks(arena: Path, ringtrue) -> None:
    Path("first.run").write_text(run_text([1, 2, 1], "x"))
    Path("last.run").write_text(run_text([1, 2, 1, 1, 1, 3], "x", first=3))
    answer = ringtrue("compare", "first.run", "last.run", *WORDS, "--missing", "skip", "--json")
    assert answer.code == 0
    note = answer.note("few-common-queries")
    assert f"note: {note}\n" in answer.err
    assert all(part in note for part in ("1 of 8", "q4, q5, q6 and 2 more", "q1, q2"))
    assert answer.json["missing"] == {"first": ["q4", "q5", "q6", "q7", "q8"], "last": ["q1", "q2"]}
    assert answer.json["comparisons"][0]["difference"]["n"] == 1


def test_a_missing_query_counts_as_0_or_is_left_out(arena: Path, ringtrue) -> None:
    Path("short.run").write_text(run_text(RANKS["fair"][:6], "x"))
    words = ("compare", "good.run", "short.run", *WORDS, "--json")
    zero, skip = (ringtrue(*words, "--missing", how).json["comparisons"][0] for how in ("zero", "skip"))
    theirs = stats.ttest_rel(rr("good"), [*rr("fair")[:6], 0, 0])
    assert zero["p_value"] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert skip["p_value"] == pytest.approx(stats.ttest_rel(rr("good")[:6], rr("fair")[:6]).pvalue, rel=1e-9)
    assert (zero["difference"]["n"], skip["difference"]["n"]) == (8, 6)


@pytest.mark.parametrize("missing", [(), ("--missing", "skip")])
def test_welchs_test_compares_runs_over_different_queries(arena: Path, ringtrue, missing: tuple[str, ...]) -> None:
    Path("first.run").write_text(run_text(RANKS["good"][:5], "x"))
    Path("last.run").write_text(run_text(RANKS["poor"][5:], "x", first=6))
    words = ("compare", "first.run", "last.run", *WORDS, "--test", "welch", *missing)
    (one,) = ringtrue(*words, "--json").json["comparisons"]
    theirs = stats.ttest_ind(rr("good")[:5], rr("poor")[5:], equal_var=False)
    assert one["p_value"] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert "unpaired-queries" in one["note_codes"]
    assert any("5 of 'first'" in note and "3 of 'last'" in note for note in one["notes"])
    assert ringtrue(*words).code == 0


def test_one_query_gives_p_1_and_says_why(arena: Path, ringtrue) -> None:
    Path("one.qrels").write_text("q1 0 rel 1\n")
    answer = ringtrue("compare", "good.run", "poor.run", "--judgments", "one.qrels", "-m", "RR", "--json")
    assert answer.code == 0
    (one,) = answer.json["comparisons"]
    assert (one["p_value"], one["p_adjusted"], one["difference"]["low"], one["effect_size"]) == (1, 1, None, None)
    assert one["difference"]["value"] == pytest.approx(2 / 3)
    assert one["note_codes"][0] == "single-query"
    table = ringtrue("compare", "good.run", "poor.run", "--judgments", "one.qrels", "-m", "RR")
    assert "over 1 query;" in table.out
    assert one["notes"][0] in table.out


@pytest.mark.parametrize("test", ["t", "permutation", "bootstrap", "sign", "wilcoxon", "welch"])
def test_identical_runs_have_p_1_by_every_test(arena: Path, ringtrue, test: str) -> None:
    Path("copy.run").write_text(Path("good.run").read_text())
    (one,) = ringtrue("compare", "good.run", "copy.run", *WORDS, "--test", test, "--json").json["comparisons"]
    assert (one["p_value"], one["p_adjusted"]) == pytest.approx((1, 1), rel=1e-12)
    assert (one["difference"]["value"], one["effect_size"]) == (0, 0)
    assert (one["wins"], one["ties"], one["losses"]) == (0, 8, 0)
    table = ringtrue("compare", "good.run", "copy.run", *WORDS, "--test", test)
    assert "nan" not in table.out
    assert "better than" not in table.out


@pytest.mark.parametrize("test", ["t", "permutation", "bootstrap", "sign", "wilcoxon"])
def test_a_constant_difference_is_told_as_such(arena: Path, ringtrue, test: str) -> None:
    Path("ones.run").write_text(run_text([1] * 8, "x"))
    Path("twos.run").write_text(run_text([2] * 8, "x"))
    answer = ringtrue("compare", "ones.run", "twos.run", *WORDS, "--test", test, "--json")
    (one,) = answer.json["comparisons"]
    assert (one["p_value"], one["effect_size"], one["difference"]["value"]) == (2**-7, None, 0.5)
    assert (one["note_codes"][0], "same 0.5" in one["notes"][0]) == ("equal-values", True)
    assert ringtrue("compare", "ones.run", "twos.run", *WORDS, "--test", test).code == 0


def test_notes_go_to_standard_error_and_into_the_json_only(arena: Path, ringtrue) -> None:
    Path("short.run").write_text(run_text(RANKS["fair"][:6], "x"))
    answer = ringtrue("compare", "good.run", "short.run", *WORDS, "--json")
    assert len(answer.out.strip().splitlines()) == 1
    json.loads(answer.out)
    note = answer.note("queries-not-in-run")
    assert (note.startswith("short: 2 of 8 "), note.endswith(": q7, q8")) == (True, True)
    assert f"note: {note}\n" in answer.err
    for form in ("table", "csv", "markdown", "latex"):
        printed = ringtrue("compare", "good.run", "short.run", *WORDS, "--format", form)
        assert "note:" not in printed.out
        assert f"note: {note}" in printed.err


def test_a_run_can_come_from_standard_input(arena: Path, ringtrue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("good.run").read_bytes())))
    answer = ringtrue("compare", "-", "poor.run", *WORDS, "--json")
    assert answer.code == 0
    (one,) = answer.json["comparisons"]
    assert (one["b"], one["wins"]) == ("poor", 8)
    assert ringtrue("compare", "-", "-", *WORDS, "--json").stop == (2, "input-read-twice", None)


@pytest.mark.slow
@pytest.mark.real
def test_all_pairs_of_dl19_in_one_command(data: Path, ringtrue) -> None:
    runs = sorted(map(str, (data / "dl19/runs").glob("*.run")))
    words = ("--judgments", str(data / "dl19/human.qrels"), "-m", "nDCG@10,AP,P@10,RR")
    answer = ringtrue("compare", *runs, *words, "--json")
    assert len(answer.json["comparisons"]) == 2664
    assert " 666 pairs " in answer.json["family"]
    table = ringtrue("compare", *runs, *words).out.splitlines()
    assert len(table) == 2 + 37 + 8
    assert max(map(len, table)) < 160


@pytest.mark.parametrize("path", ["./fair.run", "../{folder}/fair.run", "{whole}/fair.run"])
def test_a_baseline_is_known_by_any_path_to_its_file(arena: Path, ringtrue, path: str) -> None:
    path = path.format(folder=arena.name, whole=arena)
    answer = ringtrue("compare", "good.run", "fair.run", *WORDS, "--baseline", path, "--json")
    assert [(one["a"], one["b"]) for one in answer.json["comparisons"]] == [("good", "fair")]


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_a_group_that_a_run_lacks_is_named_or_left_out(arena: Path, ringtrue, missing: str) -> None:
    Path("half.run").write_text(run_text(RANKS["fair"][:4], "x"))
    rows = "".join(f"q{i},{'early' if i < 5 else 'late'}\n" for i in range(1, 9))
    Path("when.csv").write_text("query,when\n" + rows)
    words = ("--topics", "when.csv", "--by", "when", "--missing", missing, "--json")
    answer = ringtrue("compare", "good.run", "half.run", *WORDS, *words)
    assert answer.code == 0 or (answer.code == 1 and "late" in answer.err)


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_a_query_of_several_lines_stays_in_its_row(arena: Path, ringtrue, form: str) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([("query", "title"), *((f"q{i}", f"what\nis\t{i}?") for i in range(1, 9))])
    Path("lines.csv").write_text(text.getvalue())
    out = ringtrue("compare", "good.run", "fair.run", *WORDS, "--topics", "lines.csv", "--format", form).out
    assert "what is 4?" in out


def test_welchs_test_counts_no_missing_query_as_0_anywhere(arena: Path, ringtrue) -> None:
    Path("part.run").write_text(run_text([1] * 6, "x"))
    answer = ringtrue("compare", "good.run", "part.run", *WORDS, "--test", "welch", "--json")
    means = {run: row["RR"]["value"] for run, row in answer.json["runs"].items()}
    (one,) = answer.json["comparisons"]
    assert one["difference"]["value"] == pytest.approx(means["good"] - means["part"])
    assert "found" not in answer.note("queries-not-in-run")


def test_a_run_ahead_for_most_queries_and_behind_on_the_mean_is_not_called_better(world: Path, ringtrue) -> None:
    Path("r.qrels").write_text("".join(f"q{i} 0 rel 1\n" for i in range(1, 31)))
    Path("often.run").write_text(run_text([2] * 28 + [1, 1], "x"))
    Path("seldom.run").write_text(run_text([3] * 28 + [9, 9], "x"))
    Path("slightly.run").write_text(run_text([3] * 26 + [9] * 4, "x"))
    Path("rarely.run").write_text(run_text([4] * 26 + [1] * 4, "x"))
    for test in ("sign", "wilcoxon"):
        words = ("compare", "slightly.run", "rarely.run", *WORDS, "--test", test)
        out = ringtrue(*words).out
        assert "≠" in out.splitlines()[2]
        assert ("better than" in out, "for 'slightly'" in out) == (False, True)
        (one,) = ringtrue(*words, "--json").json["comparisons"]
        assert (one["ahead"], one["difference"]["value"] < 0) == ("slightly", True)
        assert "better than" in ringtrue(*words, "--layout", "runs").out
    by_sign = ringtrue("compare", "often.run", "seldom.run", *WORDS, "--test", "sign").out
    assert "often (" in by_sign
    assert "30 of 30 queries" in by_sign


def test_with_a_baseline_every_pair_is_shown_the_best_first(arena: Path, ringtrue) -> None:
    for place in range(12):
        Path(f"more{place}.run").write_text(run_text([1 + (i + place) % 9 for i in range(8)], "x"))
    runs = [f"more{place}.run" for place in range(12)]
    lines = ringtrue("compare", *runs, *WORDS, "--baseline", "fair.run").out.splitlines()
    rows = [line.split() for line in lines[2:14]]
    assert {row[2] for row in rows} == {"fair"}
    found = ringtrue("compare", *runs, *WORDS, "--baseline", "fair.run", "--json").json["comparisons"]
    difference = {one["a"]: one["difference"]["value"] for one in found}
    assert [row[1] for row in rows] == sorted(difference, key=lambda run: -difference[run])
    turned = ringtrue("compare", *runs, *WORDS, "--baseline", "fair.run", "--layout", "runs").out
    assert turned.splitlines()[0].split() == ["nr", "run", "RR", "better", "than", "worse", "than"]


def test_many_runs_have_a_first_and_those_not_told_apart_from_it(arena: Path, ringtrue) -> None:
    out = ringtrue("compare", "good.run", "fair.run", "poor.run", *WORDS, "--layout", "runs").out
    assert "\nRR: good " in out


def test_queries_without_a_topic_are_told(arena: Path, ringtrue) -> None:
    Path("few.tsv").write_text("q1\tbread\nq2\tsoup\n")
    answer = ringtrue("compare", "good.run", "fair.run", *WORDS, "--topics", "few.tsv", "--json")
    assert "missing-texts" in answer.notes
    assert all(part in answer.err for part in ("few.tsv", "6 of 8 ", ": q3, q4, q5 and 3 more"))


def test_what_queries_ask_is_told_in_json_and_csv_too(arena: Path, ringtrue) -> None:
    Path("topics.tsv").write_text("".join(f"q{i}\twhat is {i}\n" for i in range(1, 9)))
    words = ("compare", "good.run", "fair.run", *WORDS, "--topics", "topics.tsv", "--per-query")
    (one,) = ringtrue(*words, "--json").json["comparisons"]
    assert {row["asked"] for row in one["queries"]} == {f"what is {i}" for i in range(1, 9)}
    assert ringtrue(*words, "--format", "csv").out.splitlines()[0].endswith(",difference,asked")


def test_a_column_is_known_by_its_name_in_the_file(arena: Path, ringtrue) -> None:
    Path("kinds.csv").write_text("query,text\n" + "".join(f"q{i},{'ab'[i % 2]}\n" for i in range(1, 9)))
    words = ("compare", "good.run", "fair.run", *WORDS, "--topics", "kinds.csv")
    assert set(ringtrue(*words, "--by", "text", "--json").json["groups"]) == {"a", "b"}
    answer = ringtrue(*words, "--by", "txet", "--json")
    assert answer.stop == (2, "unknown-column", "by")
    assert answer.error["message"].startswith("kinds.csv: ")


def test_baselines_may_come_as_a_list(arena: Path, ringtrue) -> None:
    words = ("compare", "good.run", "fair.run", "poor.run", *WORDS, "--baseline", "fair,poor", "--json")
    pairs = [(one["a"], one["b"]) for one in ringtrue(*words).json["comparisons"]]
    assert pairs == [("good", "fair"), ("good", "poor"), ("fair", "poor")]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--layout", "runs", "--per-query"), ("conflicting-parameters", "layout")),
        (("--layout", "runs", "--by", "label"), ("conflicting-parameters", "layout")),
        (("--test", "welch", "--missing", "zero"), ("conflicting-parameters", "missing")),
        (("--test", "sign", "--adjust", "tukey"), ("tukey-of-ranks", "adjust")),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    arena: Path, ringtrue, words: tuple[str, ...], error: tuple[str, str | None]
) -> None:
    assert ringtrue("compare", "good.run", "fair.run", *WORDS, *words, "--json").stop == (2, *error)


def test_a_table_says_which_queries_count_as_0(arena: Path, ringtrue) -> None:
    Path("half.run").write_text(run_text(RANKS["good"][:4], "x"))
    words = ("compare", "half.run", "fair.run", *WORDS)
    assert "4 of 8 queries" in ringtrue(*words).out
    assert "of 8 queries" not in ringtrue(*words, "--missing", "skip").out
