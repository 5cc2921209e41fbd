"""Published values of every coefficient of agreement, with the data they were computed from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ringtrue.judges.agreement import Agreement, agree
from ringtrue.judges.agreement.coefficients import cohen_kappa, kappa_standard_errors

pytestmark = pytest.mark.real

Rows = list[tuple[str, str, int]]


@pytest.fixture(scope="module")
def anchors(data: Path) -> dict[str, Any]:
    return {one["name"]: one for one in json.loads((data.parent / "anchors-agreement.json").read_text())}


def agreed(rows: Rows, **settings: Any) -> Agreement:
    item, judge, label = zip(*rows, strict=True)
    return agree({"item": item, "judge": judge, "label": label}, resamples=0, **settings)


def of_counts(counts: Sequence[Sequence[int]], **settings: Any) -> Agreement:
    """How many judges gave each item each label; nobody knows which."""
    rows = []
    for item, row in enumerate(counts):
        said = [label for label, count in enumerate(row) for _ in range(count)]
        rows += [(f"i{item}", f"j{judge}", label) for judge, label in enumerate(said)]
    return agreed(rows, scale=range(len(counts[0])), **settings)


def of_judges(table: Sequence[Sequence[int | None]], **settings: Any) -> Agreement:
    """A row for each judge, None where a label is missing."""
    return agreed(
        [
            (f"i{item}", f"j{judge}", label)
            for judge, row in enumerate(table)
            for item, label in enumerate(row)
            if label is not None
        ],
        **settings,
    )


def of_table(table: Sequence[Sequence[int]]) -> Agreement:
    """How often the first judge said the row's label and the second the column's."""
    cells = [(one, other) for one, row in enumerate(table) for other, n in enumerate(row) for _ in range(n)]
    return of_judges(list(zip(*cells, strict=True)), scale=range(len(table)))


def value(found: Agreement, name: str) -> float:
    estimate = found.overall[name]
    assert estimate.value is not None, estimate
    return estimate.value


def near(expected: float, anchor: Mapping[str, Any]) -> Any:
    return pytest.approx(expected, abs=anchor["tolerance"] or 1e-12)


COUNTED = {"kappa": "fleiss_kappa", "fleiss": "fleiss_kappa", "randolph": "randolph", "P_bar": "agreement"}


@pytest.mark.parametrize(
    "name",
    [
        "fleiss_1971_psychiatric_diagnoses",
        "fleiss_wikipedia_10x14",
        "fleiss_randolph_calculator_[[7, 1], [3, 5]]",
        "fleiss_randolph_calculator_[[6, 1, 0], [0, 7, 0]]",
        "fleiss_randolph_calculator_[[7, 0], [0, 7]]",
        "fleiss_all_one_category",
    ],
)
def test_fleiss_kappa_from_counts(anchors: dict[str, Any], name: str) -> None:
    anchor = anchors[name]
    found = of_counts(anchor["data"]["counts"])
    for said, expected in anchor["expected"].items():
        if isinstance(expected, str):
            assert expected.startswith("undefined")
            assert found.overall[COUNTED[said]].value is None
            assert [note.code for note in found.overall[COUNTED[said]].notes] == ["constant-labels"]
        elif said == "Pe_bar":
            agreement, kappa = value(found, "agreement"), value(found, "fleiss_kappa")
            assert (agreement - kappa) / (1 - kappa) == near(expected, anchor)
        else:
            assert value(found, COUNTED[said]) == near(expected, anchor)


def test_fleiss_1971_by_other_coefficients(anchors: dict[str, Any]) -> None:
    anchor = anchors["fleiss_1971_psychiatric_diagnoses"]
    found, checked = of_counts(anchor["data"]["counts"]), anchor["checked_by"]
    assert value(found, "fleiss_kappa") == pytest.approx(checked["statsmodels"], abs=1e-12)
    assert value(found, "alpha_nominal") == pytest.approx(checked["krippendorff_alpha_nominal"], abs=1e-12)
    assert value(found, "randolph") == pytest.approx(checked["randolph"], abs=1e-12)
    rated = of_judges(list(zip(*anchor["data"]["ratings"], strict=True)))
    assert value(rated, "fleiss_kappa") == pytest.approx(value(found, "fleiss_kappa"))


@pytest.mark.parametrize("name", ["krippendorff_canonical_4x12", "krippendorff_wikipedia_3x15"])
def test_alpha_with_missing_labels(anchors: dict[str, Any], name: str) -> None:
    anchor = anchors[name]
    found = of_judges(anchor["data"]["reliability_data"])
    for metric, expected in anchor["expected"].items():
        assert value(found, f"alpha_{metric}") == near(expected, anchor)
    for metric, checked in anchor["checked_by"].items():
        peers = checked.values() if isinstance(checked, dict) else [checked]
        for peer in peers:
            assert value(found, f"alpha_{metric}") == pytest.approx(peer, abs=1e-12)
    for metric, expected in anchor.get("expected_6", {}).items():
        assert value(found, f"alpha_{metric}") == pytest.approx(expected, abs=1e-6)


def test_alpha_may_be_negative(anchors: dict[str, Any]) -> None:
    anchor = anchors["krippendorff_2x2_disagree"]
    table = [["AB".index(label) for label in row] for row in anchor["data"]["reliability_data"]]
    assert value(of_judges(table), "alpha_nominal") == near(anchor["expected"]["nominal"], anchor)


def test_gwets_coefficients_with_missing_labels(anchors: dict[str, Any]) -> None:
    anchor = anchors["gwet_raw_4raters"]
    table = [list(row) for row in anchors[anchor["data"]["same_data_as"]]["data"]["reliability_data"]]
    # In Gwet's copy of the data the one label of the last item is the third judge's, in Krippendorff's the second's.
    # Only Conger's kappa asks who it was: irrCAC gives 0.76282 for the one and 0.76207 for the other.
    assert value(of_judges(table), "conger") == pytest.approx(0.76207, abs=5e-6)
    table[1][-1], table[2][-1] = table[2][-1], table[1][-1]
    found = of_judges(table)
    ours = {"fleiss": "fleiss_kappa", "gwet_ac1": "ac1", "krippendorff": "alpha_nominal"}
    for said, expected in anchor["expected"].items():
        assert value(found, ours.get(said, said)) == near(expected, anchor)


def test_cohens_own_example(anchors: dict[str, Any]) -> None:
    anchor = anchors["cohen_1960_1968_3x3"]
    table, expected = anchor["data"]["table"], anchor["expected"]
    (pair,) = of_table(table).pairs
    assert pair.confusion.counts.tolist() == table
    assert pair.kappa.value == near(expected["kappa"], anchor)
    assert pair.agreement.value == near(expected["po"], anchor)
    assert (expected["po"] - pair.kappa.value) / (1 - pair.kappa.value) == near(expected["pe"], anchor)
    apart = np.array(anchor["data"]["disagreement_weights"])
    assert cohen_kappa(pair.confusion.counts, 1 - apart / apart.max()) == near(expected["weighted_kappa"], anchor)


@pytest.mark.parametrize("name", ["cohen_wikipedia_2x2", "cohen_artstein_poesio_2008"])
def test_cohens_kappa_of_a_table(anchors: dict[str, Any], name: str) -> None:
    anchor = anchors[name]
    (pair,) = of_table(anchor["data"]["table"]).pairs
    assert pair.kappa.value == near(anchor["expected"]["kappa"], anchor)
    assert pair.agreement.value == near(anchor["expected"].get("po", 0.7), anchor)
    if "rater1" in anchor["data"]:
        (same,) = of_judges([anchor["data"]["rater1"], anchor["data"]["rater2"]]).pairs
        assert same.confusion.counts.tolist() == anchor["data"]["table"]
        assert same.kappa.value == pytest.approx(pair.kappa.value)


def test_cohens_kappa_with_its_errors_as_sas_prints_them(anchors: dict[str, Any]) -> None:
    anchor = anchors["cohen_sas_3x3"]
    expected = anchor["expected"]
    (pair,) = of_table(anchor["data"]["table"]).pairs
    textbook = pair.kappa_asymptotic
    assert (textbook.value, textbook.se) == (near(expected["kappa"], anchor), near(expected["ase"], anchor))
    assert [textbook.low, textbook.high] == near(expected["ci95"], anchor)
    assert pair.kappa_null_se == near(expected["ase0"], anchor)
    assert pair.kappa.value / pair.kappa_null_se == near(expected["z"], anchor)
    assert pair.kappa_linear.value == near(expected["linear_weighted"], anchor)
    linear = 1 - np.abs(np.subtract.outer(range(3), range(3))) / 2
    error = float(kappa_standard_errors(pair.confusion.counts, linear)[0])
    assert error == near(expected["linear_ase"], anchor)
    ends = [pair.kappa_linear.value + side * 1.959964 * error for side in (-1, 1)]
    assert ends == near(expected["linear_ci95"], anchor)


def test_weighted_kappas_of_three_labels(anchors: dict[str, Any]) -> None:
    anchor = anchors["cohen_sklearn_3class"]
    # '0*46 1*44 2*10' says: 46 times 0, then 44 times 1, then 10 times 2
    judges = [
        [int(run.split("*")[0]) for run in anchor["data"][judge].split() for _ in range(int(run.split("*")[1]))]
        for judge in ("rater1", "rater2")
    ]
    (pair,) = of_judges(judges).pairs
    for ours, said in (("kappa", "unweighted"), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
        assert getattr(pair, ours).value == near(anchor["expected"][said], anchor)


def test_overlap_is_jaccards_coefficient(anchors: dict[str, Any]) -> None:
    anchor = anchors["jaccard_overlap_hand"]
    relevant = anchor["data"]["relevant_by_judge"]
    docs = sorted({doc for docs in relevant for doc in docs})
    found = of_judges([[int(doc in mine) for doc in docs] for mine in relevant])
    pairs = {(pair.a, pair.b): pair.overlap.value for pair in found.pairs}
    asked = [("j0", "j1"), ("j0", "j2"), ("j1", "j2")]
    assert [pairs[pair] for pair in asked] == near(anchor["expected"]["pairwise"], anchor)
    assert value(found, "overlap") == near(anchor["expected"]["all_three"], anchor)


def test_no_entry_about_agreement_is_forgotten(anchors: dict[str, Any]) -> None:
    about = {name for name in anchors if name.split("_")[0] in ("fleiss", "krippendorff", "gwet", "cohen", "jaccard")}
    source = Path(__file__).read_text()
    assert {name for name in about if f'"{name}"' not in source} == set()
    elsewhere = {name.split("_")[0] for name in anchors.keys() - about}
    assert elsewhere == {"dawid", "elo", "glicko1", "bradley"}


@pytest.fixture(scope="module")
def models(data: Path) -> Agreement:
    """33 model judges against people."""
    table = pl.read_csv(data / "llmjudge" / "labels.csv")
    human = table.select("query", "doc", label="human")
    return agree(table.drop("human"), gold=human, scale=range(4), outside="clip", pairs=0, resamples=0)


def test_published_kappa_and_alpha_of_33_model_judges(models: Agreement, data: Path) -> None:
    published = {row["submission"]: row for row in pl.read_csv(data / "llmjudge" / "published_table3.csv").to_dicts()}
    assert len(models.gold) == 33
    for pair in models.gold:
        said = published[pair.b]
        assert pair.n == 4_423
        assert (pair.b, round(pair.kappa.value, 4), round(pair.alpha_ordinal.value, 4)) == (
            pair.b,
            said["kappa"],
            said["alpha"],
        )


def test_a_stray_label_of_its_own_changes_one_of_the_published_alphas(models: Agreement, data: Path) -> None:
    table = pl.read_csv(data / "llmjudge" / "labels.csv")
    loose = agree(table.drop("human"), gold=table.select("query", "doc", label="human"), pairs=0, resamples=0)
    clipped = {pair.b: pair for pair in models.gold}
    changed = {
        pair.b
        for pair in loose.gold
        for name in ("kappa", "alpha_ordinal")
        if round(getattr(pair, name).value, 4) != round(getattr(clipped[pair.b], name).value, 4)
    }
    assert len(changed) == 1
    assert changed <= {"RMITIR-llama70B", "h2oloo-zeroshot2"}
