"""evaluate: from tables to scores."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import polars as pl
import pytest
import pytrec_eval

import ringtrue as rt
from ringtrue.errors import MeasureError, MismatchError, UsageError
from ringtrue.evaluation.evaluate import split_by
from ringtrue.evaluation.inputs import Missing

RUN = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 1.0}}
LABELS = {"q1": {"d1": 0, "d2": 2, "d3": 1}, "q2": {"d4": 1}, "q3": {"d5": 1}}


def test_a_missing_query_counts_as_0_and_is_named() -> None:
    scores = rt.evaluate(RUN, LABELS, "RR")
    assert scores.by_query()["run"] == {"q1": {"RR": 0.5}, "q2": {"RR": 1.0}, "q3": {"RR": 0.0}}
    assert scores.means()["run"]["RR"].value == pytest.approx(0.5)
    (note,) = scores.notes
    assert (note.code, note.subject, note.text[-2:]) == ("queries-not-in-run", "run", "q3")
    assert "1 of 3" in note


def test_a_missing_query_does_not_look_like_unjudged_documents() -> None:
    scores = rt.evaluate(RUN, LABELS, "Judged@10, RR")
    assert scores.means()["run"]["Judged@10"].value == 1.0
    assert scores.means()["run"]["Judged@10"].n == 2
    assert scores.means()["run"]["RR"].n == 3


def test_a_missing_query_can_be_left_out() -> None:
    scores = rt.evaluate(RUN, LABELS, "RR", missing="skip")
    assert scores.means()["run"]["RR"].value == pytest.approx(0.75)
    (note,) = scores.notes
    assert (note.code, note.text[-2:]) == ("queries-not-in-run", "q3")


def test_trec_eval_10_stops_where_a_query_is_missing_and_should_not_count() -> None:
    with pytest.raises(MismatchError, match="q3") as refused:
        rt.evaluate(RUN, LABELS, "RR", missing="skip", compat="trec_eval-10")
    assert (refused.value.code, refused.value.note.subject) == ("queries-not-in-run", "run")
    assert [hint.arguments for hint in refused.value.note.suggestions] == [{"missing": "zero"}]


def test_a_query_without_relevant_documents_scores_0_and_is_counted() -> None:
    scores = rt.evaluate(RUN, {"q1": {"d1": 0}, "q2": {"d4": 1}}, ["AP", "P(rel=2)@1"])
    assert [note.code for note in scores.notes] == ["queries-without-relevant"] * 2
    assert [note.text.split(": ")[1] for note in scores.notes] == ["q1", "q1, q2"]
    assert ["label 1" in scores.notes[0], "label 2" in scores.notes[1]] == [True, True]


def test_ndcg_too_says_which_queries_have_nothing_to_find() -> None:
    scores = rt.evaluate(RUN, {"q1": {"d1": 0}, "q2": {"d4": 1}}, "nDCG@10")
    assert [(note.code, note.text[-2:]) for note in scores.notes] == [("queries-without-relevant", "q1")]


def test_queries_that_nobody_judged_do_not_count() -> None:
    scores = rt.evaluate(RUN, {"q1": {"d1": 1}}, "RR")
    assert scores.frame["query"].to_list() == ["q1"]
    assert [(note.code, note.subject, note.text[-2:]) for note in scores.notes] == [("queries-not-judged", "run", "q2")]


def test_no_query_in_common_shows_both_sides() -> None:
    with pytest.raises(MismatchError, match=r"'q1', 'q2'.*'x1'") as refused:
        rt.evaluate(RUN, {"x1": {"d1": 1}}, "AP")
    assert (refused.value.code, refused.value.note.subject) == ("no-common-query", "run")


def test_several_judges_are_averaged_on_request() -> None:
    frame = {
        "query": ["q1", "q1", "q1", "q2"],
        "doc": ["d1", "d1", "d2", "d4"],
        "judge": ["ann", "bob", "bob", "ann"],
        "label": [1, 0, 1, 1],
    }
    scores = rt.evaluate(RUN, frame, "RR", judges="average")
    # q1: ann finds d1 at rank 1, bob d2 at rank 2; q2 was judged by ann alone.
    assert scores.by_query()["run"] == {"q1": {"RR": 0.75}, "q2": {"RR": 1.0}}


def test_accuracy_without_a_collection_size_carries_a_note() -> None:
    guessed, given = (rt.evaluate(RUN, LABELS, "SetAcc", collection_size=size).notes for size in (None, 9))
    assert "collection-size-guessed" in [note.code for note in guessed]
    assert "collection-size-guessed" not in [note.code for note in given]


def test_runs_come_one_at_a_time_and_keep_their_names() -> None:
    runs = (rt.Run.of(RUN, name=name) for name in ("a", "b"))
    assert list(rt.evaluate(runs, LABELS, "AP").means()) == ["a", "b"]


def test_runs_may_come_by_name_in_a_dictionary() -> None:
    assert list(rt.evaluate({"bm25": RUN, "dense": rt.Run.of(RUN)}, LABELS, "AP").means()) == ["bm25", "dense"]


def test_a_list_of_records_is_one_run() -> None:
    records = [{"qid": "q1", "docno": "d1", "score": 1.0}, {"qid": "q1", "docno": "d2", "score": 2.0}]
    assert rt.evaluate(records, LABELS, "RR").by_query()["run"]["q1"]["RR"] == 1.0


def test_the_top_grade_is_that_of_all_judges_together() -> None:
    frame = {
        "query": ["q1", "q1", "q1"], "doc": ["d1", "d2", "d1"], "judge": ["a", "a", "b"], "label": [3, 1, 1],
    }  # fmt: skip
    open_, given = (rt.evaluate(RUN, frame, m, judges="average").frame["value"][0] for m in ("ERR", "ERR(max_rel=3)"))
    assert open_ == given


def test_two_runs_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="'a'") as refused:
        rt.evaluate([rt.Run.of(RUN, name="a"), rt.Run.of(RUN, name="a")], LABELS, "AP")
    assert refused.value.code == "repeated-run-name"


@pytest.mark.parametrize(
    ("runs", "measures", "settings", "error", "code"),
    [
        (RUN, [], {}, UsageError, "no-measure"),
        ([], "AP", {}, UsageError, "needs-runs"),
        (RUN, "AP", {"depth": 0}, UsageError, "bad-depth"),
        (RUN, "AP", {"depth": "2"}, UsageError, "bad-depth"),
        (RUN, "AP", {"depth": 2.5}, UsageError, "bad-depth"),
        (RUN, None, {}, UsageError, "no-measure"),
        (RUN, [3], {}, MeasureError, "not-a-measure"),
        (RUN, "nDGC@10", {}, MeasureError, "unknown-measure"),
        (RUN, "AP", {"missing": "ignore"}, UsageError, "unknown-choice"),
        (RUN, "AP", {"judges": "all"}, UsageError, "unknown-choice"),
        (RUN, "AP", {"compat": "trec_eval"}, UsageError, "unknown-choice"),
    ],
)
def test_a_question_put_wrongly_is_refused(
    runs: object, measures: object, settings: dict, error: type, code: str
) -> None:
    with pytest.raises(error) as refused:
        rt.evaluate(runs, LABELS, measures, **settings)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_scores_split_by_a_column_and_queries_without_a_value_come_last() -> None:
    table = pl.DataFrame({"query": ["q2", "q1"], "kind": ["hard", "easy"]})
    parts = split_by(rt.evaluate(RUN, LABELS, "RR"), table, "kind")
    assert [(kind, part.means()["run"]["RR"].value) for kind, part in parts.items()] == [
        ("easy", 0.5),
        ("hard", 1.0),
        ("(none)", 0.0),
    ]


def test_a_column_with_two_values_for_a_query_cannot_split() -> None:
    table = pl.DataFrame({"query": ["q1", "q1"], "kind": ["a", "b"]})
    with pytest.raises(UsageError, match=r"'q1'.*'kind'") as refused:
        split_by(rt.evaluate(RUN, LABELS, "RR"), table, "kind")
    assert (refused.value.code, refused.value.parameter) == ("several-values", "column")
    with pytest.raises(UsageError, match=r"'kind'\?") as refused:
        split_by(rt.evaluate(RUN, LABELS, "RR"), table, "kinds")
    assert (refused.value.code, refused.value.parameter) == ("unknown-column", "column")


# ── second opinion ─────────────────────────────────────────────────────────────────────────────────────────

OURS = {
    "map": "AP", "ndcg": "nDCG", "recip_rank": "RR", "Rprec": "Rprec", "bpref": "Bpref", "infAP": "infAP",
    "11pt_avg": "IAP", "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "num_ret": "NumRet",
    "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
    **{f"P_{k}": f"P@{k}" for k in (5, 10, 100, 1000)},
    **{f"recall_{k}": f"R@{k}" for k in (5, 10, 100, 1000)},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (5, 10, 100, 1000)},
    **{f"map_cut_{k}": f"AP@{k}" for k in (5, 10, 100, 1000)},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
    **{f"iprec_at_recall_{i / 10:.2f}": f"IPrec@{i / 10}" for i in range(11)},
    **{f"Rprec_mult_{i / 5:.2f}": f"Rprec(mult={i / 5})" for i in range(1, 11)},
}  # fmt: skip


def plain(path: Path, columns: tuple[int, int, int], kind: type) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        fields = line.split()
        query, doc, number = (fields[column] for column in columns)
        table.setdefault(query, {})[doc] = kind(number)
    return table


@pytest.mark.slow
@pytest.mark.real
def test_pytrec_eval_agrees_on_every_query_of_every_run(data: Path) -> None:
    folder = data / "dl19"
    qrels = plain(folder / "human.qrels", (0, 2, 3), int)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures)
    paths = sorted((folder / "runs").glob("*.run"))
    assert len(paths) == 37
    judgments = rt.read_judgments(folder / "human.qrels")
    ours = rt.evaluate(map(rt.read_run, paths), judgments, OURS.values(), compat="trec_eval-9", missing="skip")
    nested = ours.by_query()
    compared = 0
    for path in paths:
        for query, theirs in evaluator.evaluate(plain(path, (0, 2, 4), float)).items():
            for name, mine in OURS.items():
                assert nested[path.stem][query][str(rt.parse(mine))] == pytest.approx(theirs[name], abs=1e-9)
                compared += 1
    assert compared == 37 * 43 * len(OURS)


ALIKE = [  # names that ir_measures has too, for the same measure; Judged only where ties do not matter
    "nDCG@10", "nDCG(gains={1:2,2:5,3:20})@20", "AP", "AP(rel=2)", "AP(rel=2)@50", "P@10",
    "P(rel=2)@10", "R@100", "R(rel=2)@50", "RR", "RR(rel=2)", "RR@10", "Rprec(rel=2)", "Success@5", "Success(rel=3)@5",
    "Bpref", "Bpref(rel=2)", "infAP", "SetP", "SetR(rel=2)", "SetF", "Judged@100", "NumRet",
    "NumRel",
    "AP(judged_only=True)", "nDCG(judged_only=True)@10",
]  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("run", ["bm25base_p", "idst_bert_p1", "UNH_exDL_bm25"])
def test_ir_measures_agrees_and_writes_the_names_alike(data: Path, run: str) -> None:
    folder = data / "dl19"
    qrels = plain(folder / "human.qrels", (0, 2, 3), int)
    theirs = {name: ir_measures.parse_measure(name) for name in ALIKE}
    named = {str(measure).replace(", ", ",").replace(": ", ":"): name for name, measure in theirs.items()}
    assert set(named) == {str(rt.parse(name)) for name in ALIKE}
    ours = rt.evaluate(rt.read_run(folder / f"runs/{run}.run"), qrels, ALIKE, compat="trec_eval-9").by_query()[run]
    retrieved = plain(folder / f"runs/{run}.run", (0, 2, 4), float)
    # In one call ir_measures may count nDCG and NumRet with the gains or the judged documents of another measure.
    apart = [[one] for name, one in theirs.items() if "gains" in name or "judged_only" in name]
    together = [one for one in theirs.values() if [one] not in apart]
    values = (value for some in [together, *apart] for value in ir_measures.iter_calc(some, qrels, retrieved))
    compared = 0
    for query, measure, value in values:
        name = str(measure).replace(", ", ",").replace(": ", ":")
        assert ours[query][name] == pytest.approx(value, abs=1e-9), (query, name)
        compared += 1
    assert compared >= 43 * (len(ALIKE) - 2)


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_scores_remember_which_judged_queries_a_run_does_not_have(missing: Missing) -> None:
    judgments = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    runs = {"whole": {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}, "half": {"q2": {"d2": 1.0}}}
    assert rt.evaluate(runs, judgments, "RR", missing=missing).absent == {"half": ("q1",)}
