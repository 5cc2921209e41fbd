"""A sample drawn on: new runs and deeper cutoffs are a stratum of their own, and nothing that was judged is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from gold.correction.worlds import World, world
from gold.refusals import codes, names, refuses, with_code
from replications import short_and_long
from ringtrue.errors import InputError, MismatchError, UsageError
from strategies import examples

SEEDS = st.integers(0, 2**32 - 1)
PAIR = ["query", "doc"]


@pytest.fixture
def here() -> World:
    return world(0, runs=4, queries=20, docs=15, length=6, whole=True)


def filled(frame: pl.DataFrame, here: World) -> pl.DataFrame:
    labels = [here.gold[query][doc] for query, doc in frame.select(PAIR).rows()]
    return frame.with_columns(label=pl.Series(labels, dtype=pl.Int32))


def some(here: World, *names: str) -> dict[str, Any]:
    return {name: here.runs[name] for name in names}


def first_draw(here: World, measure: str = "P@6", budget: int = 50, seed: int = 1) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = rt.sample(some(here, "run0", "run1"), here.bronze, measure, budget=budget, rng=np.random.default_rng(seed))
    assert draw.sampling_frame is not None
    return filled(draw.frame, here), draw.sampling_frame


def test_the_frame_lists_all_that_could_be_drawn(here: World) -> None:
    gold, frame = first_draw(here)
    assert frame.columns == [*PAIR, "prob", "drawn", "drawn_from"]
    assert frame["drawn_from"].unique().to_list() == gold["drawn_from"].unique().to_list()
    shown = {(query, doc) for run in some(here, "run0", "run1").values() for query, docs in run.items() for doc in docs}
    assert set(frame.select(PAIR).rows()) == shown
    assert frame["prob"].sum() == pytest.approx(50)
    assert set(frame.filter("drawn").select(*PAIR, "prob").rows()) == set(gold.select(*PAIR, "prob").rows())


@pytest.mark.slow
@examples(15)
@given(seed=SEEDS)
def test_new_runs_are_a_stratum_of_their_own_and_old_labels_stay_as_they_are(seed: int) -> None:
    here = world(seed % 40, runs=4, queries=20, docs=15, length=6, whole=True)
    gold, frame = first_draw(here, seed=seed)
    extended = rt.sample(here.runs, here.bronze, "P@6", budget=12, already=gold, sampling_frame=frame,
                         rng=np.random.default_rng(seed))  # fmt: skip
    after, whole = extended.frame, extended.sampling_frame
    assert whole is not None
    labelled = after.filter(pl.col("label").is_not_null())
    assert set(labelled.select(*PAIR, "label").rows()) == set(gold.select(*PAIR, "label").rows())
    new = after.filter(pl.col("label").is_null())
    assert new.height == 12
    stratum = whole.join(frame, on=PAIR, how="anti")
    if stratum["prob"].sum() == pytest.approx(12):  # all of it was out of reach before, and what was not stays as it is
        assert new.join(frame, on=PAIR, how="semi").height == 0
        assert set(labelled.select(*PAIR, "prob").rows()) == set(gold.select(*PAIR, "prob").rows())
    assert 0 < stratum["prob"].sum() < 12.001
    # All that any run shows can now be drawn.
    shown = {(query, doc) for run in here.runs.values() for query, docs in run.items() for doc in docs}
    assert set(whole.select(PAIR).rows()) == shown
    assert after["drawn_from"][0].endswith("+")  # two draws, not one that was spread over the queries
    found = rt.correct(here.runs, here.bronze, filled(after, here), "P@6", sampling_frame=whole)
    assert all(row["P@6"].value is not None for row in found.corrected.values())


def test_new_documents_get_what_they_would_in_one_draw_of_all_and_the_rest_continues_the_earlier_one(
    here: World,
) -> None:
    gold, frame = first_draw(here)
    unseen = len({(query, doc) for run in here.runs.values() for query, docs in run.items() for doc in docs}
                 - set(frame.select(PAIR).rows()))  # fmt: skip
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=100, already=gold, sampling_frame=frame)
    new = draw.frame.filter(pl.col("label").is_null())
    assert new.height == 100
    outside = new.join(frame, on=PAIR, how="anti")
    assert codes(draw.notes[-1:]) == ["new-stratum"]
    assert names(draw.notes[-1], unseen, outside.height)
    # As many, or one more, as by their sizes of 150 labels in all; residuals are learned from the earlier labels.
    assert 0.2 < outside.height / 150 < unseen / (unseen + frame.height) + 0.1
    old = draw.frame.join(gold.select(*PAIR, before="prob"), on=PAIR)
    assert (old["prob"] > old["before"]).all()


def test_a_deeper_cutoff_extends_a_sample_and_a_smaller_one_keeps_what_lies_below(here: World) -> None:
    gold, frame = first_draw(here, "P@3", 30)
    deeper = rt.sample(some(here, "run0", "run1"), here.bronze, "P@6", budget=20, already=gold, sampling_frame=frame)
    assert deeper.frame.filter(pl.col("label").is_null()).join(frame, on=PAIR, how="semi").height == 0
    gold, frame = first_draw(here, "P@6", 50)
    smaller = rt.sample(some(here, "run0", "run1"), here.bronze, "P@3", budget=10, already=gold, sampling_frame=frame)
    kept = smaller.frame.filter(pl.col("label").is_not_null())
    assert set(kept.select(PAIR).rows()) == set(gold.select(PAIR).rows())  # no paid label is lost
    top = rt.sample(some(here, "run0", "run1"), here.bronze, "P@3", budget=2).sampling_frame
    below = kept.join(top, on=PAIR, how="anti").join(gold.select(*PAIR, before="prob"), on=PAIR)  # type: ignore[arg-type]
    assert below["prob"].to_list() == below["before"].to_list()
    found = rt.correct(some(here, "run0", "run1"), here.bronze, filled(smaller.frame, here), "P@6",
                       sampling_frame=smaller.sampling_frame)  # fmt: skip
    assert all(row["P@6"].value is not None for row in found.corrected.values())


def test_lost_labels_of_the_earlier_draw_are_asked_for_again(here: World) -> None:
    gold, frame = first_draw(here)
    lost = gold.with_columns(label=pl.when(pl.int_range(pl.len()) > 1).then("label"))
    draw = rt.sample(here.runs, here.bronze, "P@6", budget=30, already=lost, sampling_frame=frame)
    assert draw.frame.height == 80
    assert draw.frame["label"].null_count() == 32
    assert codes(draw.notes[:1]) == ["lost-labels"]
    assert names(draw.notes[0], "2 blank", "50")


def test_a_frame_without_labels_and_labels_out_of_order_are_refused(here: World) -> None:
    gold, frame = first_draw(here)
    with refuses(UsageError, "frame-without-gold"):
        rt.sample(here.runs, here.bronze, "P@6", budget=30, sampling_frame=frame)
    second = rt.sample(here.runs, here.bronze, "P@6", budget=12, already=gold, sampling_frame=frame)
    both = filled(second.frame, here)
    with refuses(InputError, "gold-not-drawn", "12", "62"):
        rt.correct(here.runs, here.bronze, both, "P@6", sampling_frame=frame)  # the second batch, the first one's frame
    with refuses(InputError, "frame-of-later-batch", "62"):
        rt.correct(here.runs, here.bronze, gold, "P@6", sampling_frame=second.sampling_frame)
    with refuses(InputError, "too-many-lost", "12", "62"):
        rt.correct(here.runs, here.bronze, gold.drop("drawn"), "P@6", sampling_frame=second.sampling_frame)


def test_a_comparison_is_extended_to_what_the_new_run_does_not_share(here: World) -> None:
    draw = rt.sample(some(here, "run0", "run1"), here.bronze, "P@6", budget=40, compare=True)
    assert draw.sampling_frame is not None
    gold = filled(draw.frame, here)
    more = rt.sample(here.runs, here.bronze, "P@6", budget=30, compare=True, already=gold,
                     sampling_frame=draw.sampling_frame)  # fmt: skip
    both = filled(more.frame, here)
    found = rt.compare_corrected(here.runs, here.bronze, both, "P@6", sampling_frame=more.sampling_frame)
    assert all(pair.difference.value is not None for pair in found)


@pytest.mark.slow
@short_and_long("draws", 40, 150)
def test_probabilities_of_an_extended_sample_are_as_stated(here: World, draws: int) -> None:
    counts: dict[tuple[str, str], list[float]] = {}
    for seed in range(draws):
        gold, frame = first_draw(here, seed=seed)
        draw = rt.sample(here.runs, here.bronze, "P@6", budget=12, already=gold, sampling_frame=frame,
                         rng=np.random.default_rng(seed + 1000))  # fmt: skip
        assert draw.sampling_frame is not None
        for query, doc, prob, drawn in draw.sampling_frame.select(*PAIR, "prob", "drawn").iter_rows():
            counts.setdefault((query, doc), []).append(drawn - prob)
    errors = np.array([np.mean(found) for found in counts.values()])
    assert np.abs(errors).max() < 4.5 * 0.5 / np.sqrt(draws)
    assert abs(errors.mean()) < 0.06 / np.sqrt(draws)


def test_documents_of_an_earlier_sample_that_no_run_shows_are_counted_and_kept(here: World) -> None:
    first = rt.sample(some(here, "run0", "run1"), here.bronze, "P@6", budget=50, rng=np.random.default_rng(1))
    gold = filled(first.frame, here)
    strange = gold.with_columns(doc=pl.when(pl.int_range(pl.len()) == 4).then(pl.lit("zz")).otherwise("doc"))
    draw = rt.sample(some(here, "run0", "run1"), here.bronze, "P@6", budget=10, already=strange)
    (note,) = with_code(draw.notes, "gold-partly-outside-runs")
    assert names(note, "1 of 50", "'zz'", gold["query"][4])
    assert draw.frame.filter(doc="zz").height == 1
    foreign = gold.with_columns(pl.col("query").str.replace("^", "topic-"))
    with refuses(MismatchError, "gold-outside-runs", gold["query"][0]):
        rt.sample(some(here, "run0", "run1"), here.bronze, "P@6", budget=10, already=foreign)
