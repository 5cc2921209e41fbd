"""Which runs can be told apart."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from report.page_words import Words, note_codes
from report.small_inputs import by_hand, noisy, simulated
from ringtrue.evaluation.measures import parse_all
from ringtrue.files import read_judgments, read_run
from ringtrue.report.inputs import ReportInputs, compare_run_pairs, estimate_run_means, find_contradicted_pairs
from ringtrue.report.model import Forest, Section
from ringtrue.report.sections import run_comparisons
from ringtrue.stats.results import Comparison, Estimate
from ringtrue.tables import Run
from strategies import examples

ALIKE = [1, 2, 1, 2, 1, 2, 1, 2]


def made(material: ReportInputs) -> Section:
    found = run_comparisons.section(material)
    assert found is not None
    return found


def chart(section: Section) -> Forest:
    found = section.figures[0].charts[0]
    assert isinstance(found, Forest)
    return found


def behind(section: Section) -> dict[str, Estimate]:
    shown = chart(section)
    return {run: one for run, one in zip(shown.names, shown.series[0].values, strict=True) if one is not None}


def test_a_run_that_is_always_worse_is_told_apart_and_one_that_is_now_better_now_worse_is_not(
    words: Words,
) -> None:
    # RR: 1 or 1/2 for first and second, in turn; 1/9 or 1/10 for last.
    section = made(by_hand({"last": [9, 10] * 4, "first": ALIKE, "second": [2, 1, 2, 1, 2, 1, 2, 2]}))
    assert chart(section).names == ("first", "second", "last")
    assert chart(section).marks == ("a", "a", "b")
    assert re.findall(r"\d+", section.answer) == ["1", "3", "2"]
    words(section)
    assert behind(section)["last"].value == pytest.approx((1 / 9 + 1 / 10) / 2 - 0.75)


def test_two_runs_are_answered_by_their_difference_and_p(words: Words) -> None:
    section = made(by_hand({"new": [1, 1, 2, 1], "old": [2, 3, 1, 1]}))
    # Differences 1/2, 2/3, −1/2, 0: mean 1/6, and t = 0.63 with 3 degrees of freedom.
    assert all(part in section.answer for part in ("new − old", "0.17 (−0.67 to 1.01)", "p = 0.57"))
    words(section)


def test_a_decided_difference_of_two_runs_names_the_better_one(words: Words) -> None:
    section = made(by_hand({"old": [2, 3] * 5, "new": [1] * 10}))
    assert "0.583 (0.520 to 0.646)" in section.answer
    words(section)


def test_the_sentence_tells_what_is_decided_near_the_top_and_what_could_be_found() -> None:
    section = made(by_hand({"last": [9, 10] * 4, "first": ALIKE, "second": [2, 1, 2, 1, 2, 1, 2, 2]}))
    sentence = section.figures[0].sentence
    assert all(part in sentence for part in ("first", "second", "last", "0.57"))


def test_the_table_has_every_run_though_the_chart_has_the_first_ones_only(words: Words) -> None:
    ranks = {f"r{place:02d}": [1 + (place + query) % 7 for query in range(6)] for place in range(30)}
    section = made(by_hand(ranks))
    assert len(chart(section).names) == run_comparisons.MAX_CHART_ROWS
    assert len(section.figures[0].table.rows) == 30
    words(section)


@examples(40)
@given(st.lists(st.lists(st.integers(1, 10), min_size=6, max_size=6), min_size=3, max_size=6))
def test_lines_miss_0_and_letters_differ_just_where_it_is_decided(ranks: list[list[int]]) -> None:
    material = by_hand({f"r{place}": row for place, row in enumerate(ranks)})
    section = made(material)
    letters = dict(zip(chart(section).names, chart(section).marks, strict=True))
    decided = {frozenset((one.a, one.b)): one for one in material.comparisons or ()}
    for a, b in combinations(letters, 2):
        assert decided[frozenset((a, b))].decided == (not set(letters[a]) & set(letters[b]))
    best, *others = chart(section).names
    for run in others:
        one, drawn = decided[frozenset((best, run))], behind(section)[run]
        assert drawn.low is not None
        assert drawn.high is not None
        if one.effect_size is not None and one.difference.se:  # all queries alike: p is not that of the interval
            assert one.decided == (drawn.high < 0 or drawn.low > 0)


def test_a_run_that_gold_could_not_reach_is_not_compared_and_the_others_are(words: Words) -> None:
    material = simulated("whole queries")
    new = Run.of({query: {f"new{rank}": -float(rank) for rank in range(10)} for query in material.runs[0].queries})
    section = made(replace(material, runs=(*material.runs, new.called("new"))))
    words(section)
    assert behind(section)["new"].value is None
    assert chart(section).names[-1] == "new"
    assert "not-compared" in note_codes(section.figures[0])


@pytest.mark.parametrize("gold", ["documents", "whole queries"])
def test_with_gold_the_order_and_the_groups_are_the_corrected_ones(gold: str) -> None:
    material = simulated(gold)  # type: ignore[arg-type]
    assert material.scores is not None
    raw = material.scores.means()
    section = made(material)
    assert max(raw, key=lambda run: raw[run][material.measure].value or 0) == "keyword"
    assert chart(section).names == ("neural", "hybrid", "keyword")
    assert not set(chart(section).marks[0]) & set(chart(section).marks[2])


def test_gold_that_was_drawn_to_compare_gives_a_ranking_without_levels() -> None:
    material = simulated("documents")
    assert material.gold is not None
    assert not hasattr(material.gold, "counts")
    frame = material.gold.frame  # type: ignore[union-attr]
    drawn = frame.with_columns(drawn_for=frame["design"].replace({"pool_stratified": "differences of P(rel=2)@10"}))
    compared = replace(material, gold=type(material.gold)(drawn))  # type: ignore[call-arg]
    section = made(compared)
    assert chart(section).names == ("neural", "hybrid", "keyword")
    assert [row[3] for row in section.figures[0].table.rows] == ["–", "–", "–"]


def test_a_single_run_has_no_ranking() -> None:
    assert run_comparisons.section(by_hand({"only": [1, 2]})) is None


def text_of(section: Section) -> str:
    return " ".join([section.answer, section.figures[0].sentence, *section.figures[0].notes])


def claims(section: Section) -> list[tuple[str, str]]:
    """Every pair of runs of which the first is said to be ahead; runs are called r0, r1, …"""
    text, best, runs = text_of(section), chart(section).names[0], r"((?:r\d+(?:, | and )?)+)"
    found = [(one, other) for one, other in re.findall(r"(r\d+) over (r\d+)", text)]
    found += re.findall(r"(r\d+) is better than (r\d+):", text)
    if f"{best} is better than each" in text:
        found += [(best, run) for run in chart(section).names[1:]]
    for pattern, first in (
        (rf"the best would also be better than {runs}", True), (rf"looked at alone, {runs} would be better", False),
        (rf"compared with it alone, {runs} lies? ahead", False),
    ):  # fmt: skip
        for some in re.findall(pattern, text):
            named = re.findall(r"r\d+", some)
            found += [(best, run) if first else (run, best) for run in named]
    return found + [
        (b, a) for a, b in re.findall(r"(r\d+) has the higher value, and yet lies [\d.]+ behind (r\d+)", text)
    ]


@examples(40)
@given(st.lists(st.lists(st.integers(1, 10), min_size=6, max_size=6), min_size=2, max_size=6))
def test_whoever_is_said_to_be_ahead_has_the_difference_for_it(ranks: list[list[int]]) -> None:
    material = by_hand({f"r{place}": row for place, row in enumerate(ranks)})
    pairs = compare_run_pairs(material)
    assert all((pairs[pair].difference.value or 0.0) > 0 for pair in claims(made(material)))


@pytest.mark.parametrize("seed", [*range(11), 156])
def test_corrected_too_whoever_is_said_to_be_ahead_has_the_difference_for_it(seed: int) -> None:
    material = noisy(seed)
    section, pairs, means = made(material), compare_run_pairs(material), estimate_run_means(material)
    assert means is not None
    assert all((pairs[pair].difference.value or 0.0) > 0 for pair in claims(section))
    ahead = any((one.value or 0.0) > 1e-9 for one in behind(section).values())
    assert ("right of 0" in section.figures[0].sentence) == ahead
    assert ("order-contradicted" in note_codes(section.figures[0])) == bool(
        find_contradicted_pairs(means, pairs, material.measure)
    )


def test_claims_are_found_where_there_are_some() -> None:
    assert ("r1", "r0") in claims(made(by_hand({"r0": [2, 3] * 5, "r1": [1] * 10})))
    assert ("r0", "r2") in claims(made(by_hand({"r0": [1] * 8, "r1": ALIKE, "r2": [9, 10] * 4})))


def one(a: str, b: str, value: float, p: float) -> Comparison:
    return Comparison(measure="RR", a=a, b=b, difference=Estimate(value=value, se=0.1, n=9, method="t"), p_value=p / 3,
                      p_adjusted=p, test="t", ahead=a if value > 0 else b, wins=0, ties=0, losses=0)  # fmt: skip


def test_a_run_that_is_ahead_of_the_first_when_compared_alone_is_told_as_such(words: Words) -> None:
    # r0 is far ahead of r2, and so first on the whole; yet r1 beats it.
    every = [one("r0", "r1", -0.2, 0.01), one("r0", "r2", 0.9, 0.01), one("r1", "r2", 0.1, 0.5)]
    pairs = {(two.a, two.b): two for two in every} | {(two.b, two.a): two.turned() for two in every}
    found = replace(by_hand({"r0": [1, 1], "r1": [2, 2]}).comparisons, comparisons=tuple(every))  # type: ignore[type-var]
    names = ("r0", "r1", "r2")
    decided = run_comparisons._comparison_notes(names, pairs, {"r0": "a", "r1": "b", "r2": "c"})
    assert "first-by-all-differences" in [note.code for note in decided]
    open_still = pairs | {("r0", "r1"): one("r0", "r1", -0.2, 0.06)}
    undecided = run_comparisons._comparison_notes(names, open_still, {"r0": "a", "r1": "a", "r2": "c"})
    (alone,) = [note for note in undecided if note.code == "better-if-alone"]
    assert alone.index("r1") < alone.index("r0")  # who would be better comes first
    summary = run_comparisons._summarise_comparisons(names, names[:1], pairs, found)
    words(summary, run_comparisons._describe_top_pairs(names, pairs), *decided, *undecided)


def test_runs_with_the_same_value_are_told_as_such(words: Words) -> None:
    two, all_three = by_hand({"one": [1, 2], "other": [1, 2]}), by_hand({name: [1, 2] for name in "abc"})
    three = by_hand({"one": ALIKE, "other": ALIKE, "last": [9, 10] * 4})
    words(*(made(material).answer for material in (two, three, all_three)))


def test_a_difference_that_is_not_quite_that_of_the_values_beside_it_is_explained() -> None:
    told = 0
    for seed in range(6):
        material = noisy(seed)
        section, means, pairs = made(material), estimate_run_means(material), compare_run_pairs(material)
        assert means is not None
        best, second = chart(section).names[:2]
        first, other = (means[run]["P@3"].value or 0.0 for run in (best, second))
        note = re.search(r"two values \((\S+) − (\S+) stands beside (\S+)\)", text_of(section))
        if note is not None:
            shown = [first, other, pairs[best, second].difference.value or 0.0]
            assert [float(number.replace("−", "-")) for number in note.groups()] == pytest.approx(shown, abs=0.005)
            assert abs(shown[0] - shown[1] - shown[2]) > 0.0005
            told += 1
        elif not find_contradicted_pairs(means, pairs, "P@3"):
            assert first - other == pytest.approx(pairs[best, second].difference.value, abs=0.005)
    assert told
    plain = made(by_hand({"new": [1, 1, 2], "old": [2, 3, 1]})).figures[0]
    assert not {"order-contradicted", "difference-estimated-jointly"} & set(note_codes(plain))


@pytest.mark.slow
@pytest.mark.real
def test_few_gold_labels_do_not_make_the_weakest_run_of_2019_the_best(data: Path) -> None:
    import numpy as np

    from ringtrue.gold.sampling import sample
    from ringtrue.tables import Judgments

    runs = tuple(read_run(path) for path in sorted(data.glob("dl19/runs/*.run")))
    bronze, people = (read_judgments(data / f"dl19/{name}.qrels") for name in ("llm-umbrela_gpt4", "human"))
    draw = sample(runs, bronze, "P(rel=2)@10", budget=60, rng=np.random.default_rng(30))
    known = people.frame.select("query", "doc", "label")
    gold = Judgments.of(draw.frame.join(known, on=["query", "doc"], how="inner", maintain_order="left"))
    material = ReportInputs(runs=runs, judgments=bronze, gold=gold, measures=tuple(parse_all(["P(rel=2)@10"])))
    section = made(material)
    assert chart(section).names[0] != "UNH_exDL_bm25"
    best = chart(section).names[0]
    assert all((pair.difference.value or 0.0) >= 0 for (a, _), pair in compare_run_pairs(material).items() if a == best)


@pytest.mark.real
def test_of_the_37_runs_of_2019_the_best_is_not_told_from_18_and_groups_say_the_same(data: Path) -> None:
    runs = tuple(read_run(path) for path in sorted(data.glob("dl19/runs/*.run")))
    labels = read_judgments(data / "dl19/human.qrels")
    section = made(ReportInputs(runs=runs, judgments=labels, measures=tuple(parse_all(["nDCG@10"]))))
    letters = {row[1]: row[2] for row in section.figures[0].table.rows}
    alike = [run for run in letters if set(letters[run]) & set(letters["idst_bert_p1"])]
    assert len(alike) == 1 + 18
    assert re.findall(r"\d+", section.answer)[-3:] == ["13", "666", "269"]
