"""trec_eval's own test outputs, to the digits it prints.

The files and the options that made them are listed in the README of the data folder.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

import ringtrue as rt

pytestmark = pytest.mark.real

GRADED_RBP = "RBP(p=0.9,gains={1:1,2:2,3:3,4:4})"
NOT_OURS = {  # measures that ringtrue does not have
    "G", "Rndcg", "binG", "gm_bpref", "gm_map", "ndcg_rel", "num_nonrel_judged_ret", "relative_P", "relstring",
    "num_q", "runid", "set_map", "set_relative_P", "unj", "utility",
}  # fmt: skip
SUMMED = {"num_ret", "num_rel", "num_rel_ret"}  # trec_eval adds these up where it averages all others
WRITTEN = {  # names that carry their parameters
    "11pt_avg_.25,.5,.75": "IAP(at=[0.25,0.5,0.75])",
    "ndcg_1=3,2=9,4=4.5": "nDCG(gains={1:3,2:9,3:3,4:4.5})",
    "rbp": "RBP(p=0.9)",
    "rbp_resid": "RBPres(p=0.9)",
}

Expected = dict[str, dict[str, str]]


def expected(path: Path) -> Expected:
    """measure → query → what was printed; the mean is under the query 'all'."""
    values: Expected = defaultdict(dict)
    for line in path.read_text().splitlines():
        measure, query, value = (field.strip() for field in line.split("\t"))
        values[measure][query] = value
    return values


def ours(measure: str, rel: int = 1) -> str | None:
    """Our name of one of trec_eval's measures, or None where we have none."""
    base = measure.rstrip("0123456789.,-=").rstrip("_")
    if measure not in WRITTEN and {measure, base} & NOT_OURS:
        return None
    written = WRITTEN.get(measure, measure.replace("_avgjg", ""))
    return str(rt.parse(written).with_default("rel", rel))


def compare(
    folder: Path,
    output: str,
    *,
    but: str = "",
    run: str = "results.test",
    qrels: str = "qrels.test",
    rel: int = 1,
    **settings,
) -> int:
    """Hold every printed value against ours; returns how many there were."""
    printed = expected(folder / output)
    names = {measure: name for measure in printed if measure != but and (name := ours(measure, rel))}
    scores = rt.evaluate(
        rt.read_run(folder / run),
        rt.read_judgments(folder / qrels),
        names.values(),
        compat="trec_eval-10",
        **settings,
    )
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for _, query, measure, value in scores.frame.iter_rows():
        values[measure][query] = value
    for measure, name in names.items():
        for query, text in printed[measure].items():
            found = values[name]
            whole = sum(found.values()) / (1 if measure in SUMMED else len(found))
            got = whole if query == "all" else found[query]
            assert f"{got:.4f}" == f"{float(text):.4f}", (measure, query)
    return sum(len(printed[measure]) for measure in names)


@pytest.fixture
def folder(data: Path) -> Path:
    return data / "trec_eval"


@pytest.mark.parametrize(
    ("output", "settings"),
    [
        ("out.test", {}),
        ("out.test.a", {}),
        ("out.test.aq", {}),
        ("out.test.aqc", {"run": "results.trunc"}),
        ("out.test.aqcM", {"run": "results.trunc", "depth": 100}),
        ("out.test.aql", {"qrels": "qrels.rel_level", "rel": 2, "but": "rbp"}),
        ("out.test.meas_params", {}),
        ("out.comment.test", {"run": "results.comment.test", "qrels": "qrels.comment.test", "missing": "zero"}),
        ("out.test.qrels_jg", {"qrels": "qrels.123", "judges": "average"}),
    ],
)
def test_every_value_that_trec_eval_printed_is_reproduced(folder: Path, output: str, settings: dict) -> None:
    assert compare(folder, output, **settings) >= 20


def test_trec_eval_grades_rbp_by_the_largest_label_of_each_query(folder: Path) -> None:
    printed = expected(folder / "out.test.aql")["rbp"]
    judgments = rt.read_judgments(folder / "qrels.rel_level")
    graded = rt.evaluate(rt.read_run(folder / "results.test"), judgments, GRADED_RBP).by_query()["results"]
    for query, row in graded.items():
        largest = judgments.frame.filter(judgments.frame["query"] == query)["label"].max()
        assert f"{row[GRADED_RBP] / largest:.4f}" == printed[query]
