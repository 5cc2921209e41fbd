"""The numbers of the model's own data: TREC's relevance feedback crowd of 2010."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ringtrue.judges.disagreement import Disagreement, disagree

pytestmark = pytest.mark.real

SHARES = ["1/3", "2/3", "2/4", "2/5"]


@pytest.fixture(scope="module")
def labels(data: Path) -> pl.DataFrame:
    return pl.read_csv(data / "rf10/labels.csv")


@pytest.fixture(scope="module")
def found(labels: pl.DataFrame) -> Disagreement:
    return disagree(labels, "1/3", repeats="all", gold_as_judge="gold", min_labels=6, verify=SHARES)


def row(found: Disagreement, which: str) -> list[float]:
    return [getattr(one, which).value for one in found.verified if one.level == "1"]


def test_p_of_the_top_given_each_label(found: Disagreement) -> None:
    assert found.documents == 2_598
    assert [found.p[name].value for name in "210"] == pytest.approx([0.343, 0.302, 0.233], abs=0.0006)


def test_what_happened_and_what_was_predicted(found: Disagreement) -> None:
    assert row(found, "experimental") == pytest.approx([0.499, 0.105, 0.232, 0.353], abs=0.0006)
    assert row(found, "predicted") == pytest.approx([0.512, 0.091, 0.218, 0.351], abs=0.0006)


def test_the_papers_own_row_by_the_document_alone(labels: pl.DataFrame) -> None:
    # Where topics gave a document different gold labels, the last one counts; broken links are no labels.
    gold = labels.drop_nulls("gold").unique("doc", keep="last", maintain_order=True)
    gold = gold.select("doc", worker=pl.lit("gold"), label="gold")
    found = disagree(
        pl.concat([labels.select("doc", "worker", "label"), gold]),
        "1/3", repeats="all", min_labels=6, verify=SHARES, resamples=0,
    )  # fmt: skip
    assert found.documents == 2_738
    assert row(found, "experimental") == pytest.approx([0.494, 0.102, 0.226, 0.346], abs=0.0006)
    assert row(found, "experimental") == pytest.approx([0.49, 0.10, 0.23, 0.35], abs=0.006)
    assert row(found, "predicted") == pytest.approx([0.51, 0.09, 0.21, 0.35], abs=0.006)


def test_the_column_of_gold_says_nearly_the_same_by_the_document_alone(labels: pl.DataFrame) -> None:
    settings = {"repeats": "all", "gold_as_judge": "gold", "min_labels": 6, "verify": SHARES, "resamples": 0}
    found = disagree(labels.drop("topic"), "1/3", **settings)  # type: ignore[arg-type]
    assert row(found, "experimental") == pytest.approx([0.494, 0.102, 0.226, 0.346], abs=0.001)


def test_workers_contradict_others_more_than_themselves(found: Disagreement) -> None:
    again = found.consistency
    assert again is not None
    assert again.within["2"].value == pytest.approx(0.719, abs=0.001)
    assert again.across["2"].value == pytest.approx(0.316, abs=0.001)
    assert (again.overlap_within.low or 0) > (again.overlap_across.high or 1)
    assert sum(again.by_document.within) < again.documents
