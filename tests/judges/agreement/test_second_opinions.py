"""Other packages' numbers, which tests/golden/agreement.py wrote down, and ours."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ringtrue.judges.agreement import Agreement, agree

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[2] / "golden" / "agreement.json").read_text())
SAID_WRONG = {("irrCAC", "everybody the same label", "alpha_nominal")}  # 0/0, and −0.5 by irrCAC


@cache
def ours(name: str) -> Agreement:
    said = GOLDEN[name]
    rows = [
        (f"i{item}", f"j{judge}", label)
        for item, labels in enumerate(said["labels"])
        for judge, label in enumerate(labels)
        if label is not None
    ]
    item, judge, label = zip(*rows, strict=True)
    return agree({"item": item, "worker": judge, "label": label}, scale=said["scale"], resamples=0)


@pytest.mark.parametrize(
    ("name", "package", "coefficient"),
    [
        (name, package, coefficient)
        for name, said in GOLDEN.items()
        for package, values in said["overall"].items()
        for coefficient in values
        if (package, name, coefficient) not in SAID_WRONG
    ],
)
def test_a_package_gives_the_same_coefficient(name: str, package: str, coefficient: str) -> None:
    expected = GOLDEN[name]["overall"][package][coefficient]
    found = ours(name).overall[coefficient]
    if expected is None:
        assert found.value is None
        assert found.notes[0].code == "constant-labels"
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", GOLDEN)
def test_statsmodels_gives_the_same_kappas_of_every_pair(name: str) -> None:
    pairs = {frozenset((pair.a, pair.b)): pair for pair in ours(name).pairs}
    assert len(pairs) == len(GOLDEN[name]["pairs"])
    for said in GOLDEN[name]["pairs"]:
        found = pairs[frozenset((said["a"], said["b"]))]
        assert found.n == said["n"] == found.confusion.counts.sum()
        for coefficient in ("kappa", "kappa_linear", "kappa_quadratic"):
            value = getattr(found, coefficient).value
            assert value == (None if said[coefficient] is None else pytest.approx(said[coefficient], abs=1e-9))
        if said["kappa"] is None:
            assert found.kappa_asymptotic.value is None
            assert found.kappa.notes
        else:
            assert found.kappa_asymptotic.value == found.kappa.value
            assert found.kappa_asymptotic.se == pytest.approx(said["se"], abs=1e-7)
            assert found.kappa_null_se == pytest.approx(said["null_se"], abs=1e-7)


@pytest.mark.parametrize("name", GOLDEN)
def test_of_two_judges_one_coefficient_is_another(name: str) -> None:
    # With two judges who labelled everything, Fleiss' kappa is Scott's pi and Conger's is Cohen's.
    found = ours(name)
    if len(found.judges) > 2 or any(None in row for row in GOLDEN[name]["labels"]):
        return
    assert found.overall["fleiss_kappa"].value == pytest.approx(found.overall["scott_pi"].value)
    assert found.overall["conger"].value == pytest.approx(found.pairs[0].kappa.value)
    assert found.overall["alpha_ordinal"].value == pytest.approx(found.pairs[0].alpha_ordinal.value)
