"""Names of measures: they print and parse as people write them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import MeasureError, RingtrueError
from ringtrue.evaluation.measures import CATALOGUE, Measure, parse, parse_all


@pytest.mark.parametrize(
    "name",
    [
        "nDCG@10", "P(rel=2)@10", "AP", "AP(rel=2)", "RR@10", "RBP(p=0.9)", "R@100", "IPrec@0.5", "F(beta=2)@10",
        "SetF(alpha=0.3)", "nDCG(dcg='exp-log2')@5", "nDCG(gains={1:1,2:3})@10", "IAP(at=[0.25,0.5])", "Judged@10",
        "ERR(max_rel=4)@20", "SDCG(max_rel=3)@10", "Rprec(mult=0.5)", "AP(judged_only=True)", "Bpref", "infAP",
    ],
)  # fmt: skip
def test_a_name_comes_back_as_it_was_written(name: str) -> None:
    assert str(parse(name)) == name
    assert parse(str(parse(name))) == parse(name)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ndcg@10", "nDCG@10"),
        (" nDCG @ 10 ", "nDCG@10"),
        ("P( rel = 2 )@10", "P(rel=2)@10"),
        ("P(rel=1)@10", "P(rel=1)@10"),
        ("nDCG(dcg=exp-log2)@5", "nDCG(dcg='exp-log2')@5"),
        ("RBP(p=.8)", "RBP(p=0.8)"),
        ("IPrec@.5", "IPrec@0.5"),
        ("IPrec@1", "IPrec@1.0"),
        ("MAP", "AP"),
        ("MRR@10", "RR@10"),
        ("Precision@5", "P@5"),
        ("Recall@5", "R@5"),
        ("HitRate@3", "Success@3"),
        ("map", "AP"),
        ("ndcg_cut_10", "nDCG@10"),
        ("P_5", "P@5"),
        ("ndcg_cut.10", "nDCG@10"),
        ("P.5", "P@5"),
        ("recall_1000", "R@1000"),
        ("success_1", "Success@1"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("recip_rank", "RR"),
        ("11pt_avg", "IAP"),
        ("set_F", "SetF"),
        ("bpref", "Bpref"),
        ("Rprec_mult_0.20", "Rprec(mult=0.2)"),
        ("nDCG(gains={2:3,1:1})", "nDCG(gains={1:1,2:3})"),
    ],
)
def test_other_peoples_names_are_understood(written: str, name: str) -> None:
    assert str(parse(written)) == name


@pytest.mark.parametrize(
    ("written", "code", "found"),
    [
        ("nDGC@10", "unknown-measure", "'nDCG@10'?"),
        ("xyzzy", "unknown-measure", "'xyzzy'"),
        ("P", "needs-cutoff", "P@10"),
        ("IPrec", "needs-cutoff", "IPrec@0.5"),
        ("Bpref@10", "unexpected-cutoff", "Bpref"),
        ("P@0", "bad-cutoff", "at least 1"),
        ("P@-1", "bad-cutoff", "at least 1"),
        ("P@2.5", "bad-cutoff", "at least 1"),
        ("P@nan", "bad-cutoff", "at least 1"),
        ("P@inf", "bad-cutoff", "at least 1"),
        ("P@ten", "bad-cutoff", "'ten'"),
        ("IPrec@1.5", "bad-cutoff", "0 to 1"),
        ("P(rl=2)@10", "unknown-parameter", "'rel'?"),
        ("P(rel=0)@10", "bad-value", "at least 1"),
        ("P(rel=1.5)@10", "bad-value", "1.5"),
        ("P(rel=True)@10", "bad-value", "True"),
        ("RBP(p=1)", "bad-value", "between 0"),
        ("RBP(p=nan)", "bad-value", "between 0"),
        ("nDCG(dcg=log10)", "bad-value", "log2"),
        ("nDCG(gains=3)", "bad-value", "{1:1, 2:3}"),
        ("nDCG(gains={})", "bad-value", "{1:1, 2:3}"),
        ("nDCG(gains={1:'a'})", "bad-value", "{1:1, 2:3}"),
        ("IAP(at=[2])", "bad-value", "recall levels"),
        ("F(beta=0)@5", "bad-value", "0.001"),
        ("F(alpha=0.5,beta=2)@5", "conflicting-parameters", "alpha"),
        ("P(rel=1,rel=2)@10", "repeated-parameter", "'rel'"),
        ("P(rel)@10", "not-a-measure", "name=value"),
        ("P(rel=)@10", "not-a-measure", "name=value"),
        ("P(rel=2", "not-a-measure", "'P(rel=2'"),
        ("", "not-a-measure", "''"),
        ("@10", "not-a-measure", "'@10'"),
    ],
)
def test_a_wrong_name_is_refused_with_what_to_do(written: str, code: str, found: str) -> None:
    with pytest.raises(MeasureError) as refused:
        parse(written)
    assert refused.value.code == code
    assert found in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text(max_size=40) | st.from_regex(r"\A(nDCG|P|AP|RBP)\([a-z=\{\}\[\]:,0-9.'\"]{0,15}\)@?[0-9.]{0,4}\Z"))
def test_no_text_brings_anything_but_our_own_errors(text: str) -> None:
    with suppress(RingtrueError):
        assert parse(str(parse(text))) == parse(text)


def test_lists_are_split_at_commas_outside_of_brackets_and_doubles_count_once() -> None:
    names = [str(m) for m in parse_all(["nDCG@10, AP,P(rel=2)@10", "nDCG(gains={1:1,2:3})@5", "AP", ""])]
    assert names == ["nDCG@10", "AP", "P(rel=2)@10", "nDCG(gains={1:1,2:3})@5"]


@pytest.mark.parametrize(
    ("written", "rel"),
    [("P@10", 1), ("P(rel=2)@10", 2), ("P(rel=1)@10", 1), ("AP(rel=3)", 3), ("nDCG@10", 1), ("RBP(p=0.8)", 1)],
)
def test_a_document_is_relevant_from_the_label_that_is_said_or_from_1_on(written: str, rel: int) -> None:
    assert parse(written).rel == rel
    assert isinstance(parse(written).rel, int)


@given(st.integers(1, 10**6))
def test_the_label_from_which_on_a_document_is_relevant_comes_back_as_it_was_set(rel: int) -> None:
    assert parse("P@10").with_default("rel", rel).rel == rel


def test_a_default_is_set_only_where_it_is_known_and_open() -> None:
    assert str(parse("P@10").with_default("rel", 2)) == "P(rel=2)@10"
    assert str(parse("P(rel=3)@10").with_default("rel", 2)) == "P(rel=3)@10"
    assert str(parse("nDCG@10").with_default("rel", 2)) == "nDCG@10"
    assert str(parse("P@10").with_default("rel", 1)) == "P@10"


@pytest.mark.parametrize(
    "parts", [("foo", 10), ("P",), ("P", 0), ("nDCG", 2.5), ("P", 10, (("rel", "x"),)), ("AP", 5, (("p", 1),))]
)
def test_a_measure_made_by_hand_is_checked_too(parts: tuple) -> None:
    with pytest.raises(MeasureError):
        Measure(*parts)


def test_every_measure_says_in_one_sentence_what_it_is_and_how_it_is_written() -> None:
    for definition in CATALOGUE.values():
        assert definition.summary.endswith((".", "0.", "top.")), definition.name
        assert definition.usage.startswith(definition.name)
