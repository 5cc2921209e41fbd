"""What should be judged next, and what it would bring."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from report.page_words import Words, note_codes
from report.small_inputs import by_hand, simulated
from ringtrue.cli import main, shell_words
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import parse_all
from ringtrue.files import read_judgments, read_run, write_table
from ringtrue.gold.correction import correct
from ringtrue.gold.sampling import sample
from ringtrue.messages import Call
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Lines, Section
from ringtrue.report.sections import next_labels
from ringtrue.report.sections.next_labels import find_missing_labels
from ringtrue.report.sections.width_forecast import Forecast, forecast_half_widths
from ringtrue.simulation import simulate_collection
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments, Run


def made(material: ReportInputs) -> Section:
    found = next_labels.section(material)
    assert found is not None
    return found


def calls(section: Section) -> dict[str, Call]:
    return {call.command: call for call in section.calls}


def unjudged() -> ReportInputs:
    """Of five documents in the top 2, `new` shows c and d of q1 without a label; e is of a query that nobody judged."""
    runs = (Run.of({"q1": {"c": 2.0, "d": 1.0, "a": 0.5}, "q2": {"a": 1.0}, "q9": {"e": 1.0}}, name="new"),
            Run.of({"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0, "b": 0.5}}, name="old"))  # fmt: skip
    labels = Judgments.of({"q1": {"a": 1, "b": 0, "c": -1}, "q2": {"a": 1, "b": 1}})
    return ReportInputs(runs=runs, judgments=labels, measures=tuple(parse_all(["P@2"])))


def test_documents_without_a_label_are_counted_once_and_for_each_run() -> None:
    lacking = find_missing_labels(unjudged())
    assert (lacking.depth, lacking.documents, lacking.unjudged) == (2, 6, 2)
    assert lacking.judged == {"new": pytest.approx(1 / 3), "old": 1.0}


def test_the_page_says_who_shows_what_nobody_judged_and_how_to_list_it(words: Words) -> None:
    section = made(unjudged())
    assert section.answer.startswith("2 ")
    caption, table = section.tables[0]
    assert re.findall(r"\d+%?", caption) == ["6", "2", "2", "67%"]
    assert [list(row) for row in table.rows] == [["new", "33.3%"]]
    assert calls(section)["pool"].arguments == {"depth": 2, "output": "pool.csv"}
    words(section)


def test_where_every_document_has_a_label_none_is_asked_for(words: Words) -> None:
    section = made(by_hand({"new": [1, 1, 2, 1], "old": [2, 3, 1, 1]}))
    assert "pool" not in calls(section)
    assert section.tables == ()
    words(section)


def test_without_gold_and_for_whole_queries_it_is_gold_alone_that_is_forecast() -> None:
    ranks = [1 + place % 4 for place in range(40)]
    ahead = forecast_half_widths(by_hand({"new": ranks, "old": [5] * 40}))
    sd = float(np.std([1 / rank for rank in ranks], ddof=1))
    assert ahead.gold_only
    assert ahead.further == (10, 20, 40)
    expected = [t.ppf(0.975, n - 1) * sd / sqrt(n) for n in (10, 20, 40)]
    assert ahead.half_widths == pytest.approx(expected)
    assert ahead.limit == pytest.approx(expected[-1])


def test_without_gold_and_for_documents_it_is_what_sample_says_for_queries_like_these() -> None:
    material = simulated("none")
    ahead = forecast_half_widths(material)
    expected, limit = (
        sample(material.runs, material.judgments, material.measures, budget=budget).expected[ahead.run]
        for budget in (100, 10_000)
    )
    assert ahead.half_widths[ahead.further.index(100)] == pytest.approx(expected[material.measure])
    assert ahead.limit == pytest.approx(limit[material.measure])


@pytest.mark.parametrize("gold", ["none", "documents", "whole queries"])
def test_more_gold_never_makes_the_interval_longer_nor_shorter_than_the_limit(gold: str) -> None:
    ahead = forecast_half_widths(simulated(gold))  # type: ignore[arg-type]
    widths = [*([] if ahead.now is None else [ahead.now]), *ahead.half_widths]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] >= ahead.limit - 1e-12


def test_gold_on_whole_queries_goes_on_as_the_queries_so_far_show() -> None:
    material = simulated("whole queries")
    ahead = forecast_half_widths(material)
    like, these = (
        correct(material.runs, material.judgments, material.gold, material.measures, population=population)  # type: ignore[arg-type]
        .corrected[ahead.run][material.measure]
        .se
        for population in ("like-these", "these")
    )
    assert like is not None
    assert these is not None
    n, more = 20, ahead.further[1]
    left = these**2 * n / (1 - n / 40)
    variance = like**2 - these**2 + (1 - (n + more) / 40) * left / (n + more)
    assert ahead.half_widths[1] == pytest.approx(t.ppf(0.975, n + more - 2) * sqrt(variance))


def test_about_these_queries_alone_nothing_is_left_in_doubt_once_all_is_judged(words: Words) -> None:
    material = replace(simulated("documents"), correction_options={"population": "these"})
    assert forecast_half_widths(material).limit == 0
    words(made(material))


def test_gold_that_judged_everything_can_do_no_more(words: Words) -> None:
    world = simulate_collection(rng=np.random.default_rng(1), queries=20)
    whole = world.gold.frame.with_columns(design=pl.lit("whole_queries"), prob=pl.lit(1.0))
    material = ReportInputs(runs=world.runs, judgments=world.bronze, measures=tuple(parse_all(["nDCG@10"])),
                        gold=Judgments(whole))  # fmt: skip
    section = made(material)
    assert section.figures == ()
    assert section.calls == ()
    words(section)


def test_runs_without_a_spread_still_tell_what_has_no_label(words: Words) -> None:
    runs = tuple(Run.of({"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, name=name) for name in ("one", "other"))
    labels = Judgments.of({"q1": {"d2": 1}, "q2": {"d2": 1}})
    section = made(ReportInputs(runs=runs, judgments=labels, measures=tuple(parse_all(["RR"]))))
    assert [(note.code, note.subject) for note in section.notes] == [("all-queries-alike", "one")]
    assert list(calls(section)) == ["pool"]
    words(section)


def test_a_matrix_in_place_of_gold_labels_leads_to_a_new_draw(words: Words) -> None:
    counts = np.full((4, 4), 5) + np.diag([80, 60, 60, 60])
    matrix = Confusion(rows="gold", columns="bronze", labels=(0, 1, 2, 3), counts=counts)
    material = replace(simulated("none"), gold=matrix)
    section = made(material)
    assert "already" not in calls(section)["sample"].arguments
    words(section)


def test_the_figure_begins_where_you_are_and_its_band_is_what_gold_leaves_open() -> None:
    material = simulated("documents")
    ahead, chart = forecast_half_widths(material), made(material).figures[0].charts[0]
    assert isinstance(chart, Lines)
    assert chart.mark is not None
    assert (chart.mark.x, chart.mark.y) == (0, ahead.now)
    assert len(chart.lines) == 1
    assert chart.lines[0].x == (0, *ahead.further)
    assert chart.lines[0].low == (ahead.now, *ahead.low)
    assert chart.lines[0].high == (ahead.now, *ahead.high)


def test_without_gold_the_figure_draws_the_limit_and_no_band() -> None:
    material = simulated("none")
    chart = made(material).figures[0].charts[0]
    assert isinstance(chart, Lines)
    assert chart.lines[0].low == ()
    assert set(chart.lines[1].y) == {forecast_half_widths(material).limit}


@pytest.mark.parametrize("gold", ["documents", "whole queries"])
def test_a_forecast_by_gold_is_told_with_its_range_and_two_digits(gold: str) -> None:
    material = simulated(gold)  # type: ignore[arg-type]
    ahead, section = forecast_half_widths(material), made(material)
    assert ahead.limits is not None
    for low, width, high in zip(ahead.low, ahead.half_widths, ahead.high, strict=True):
        assert low <= width <= high
    assert ahead.limits[0] < ahead.limit < ahead.limits[1]
    assert re.search(r"±0\.\d+ \(\w+ ±0\.0*[1-9]\d to ±0\.0*[1-9]\d\)\.$", section.answer)
    assert all(re.fullmatch(r"±0\.0*[1-9]\d", row[1]) for row in section.figures[0].table.rows[1:])


@pytest.mark.parametrize("measure", ["nDCG@10", "P(rel=2)@10"])
def test_what_rests_on_bronze_is_no_worst_case_and_says_what_it_supposes(measure: str, words: Words) -> None:
    material = replace(simulated("none"), measures=tuple(parse_all([measure])))
    section = made(material)
    assert {"forecast", "gold-not-needed"} <= set(note_codes(section.figures[0]))
    assert "worst" not in section.answer + section.figures[0].sentence
    words(section)


@pytest.mark.simulation
def test_the_ranges_hold_what_comes_about_as_often_as_the_page_says() -> None:
    # In each of eight worlds two draws of 150 labels, 200 more of each, and what is left when all is judged.
    measures = tuple(parse_all(["P(rel=2)@10"]))
    held = []
    for seed in range(5, 13):
        world = simulate_collection(rng=np.random.default_rng(seed), queries=40)
        truth = evaluate(world.runs, world.gold, measures).means()
        for draw in range(2):
            rng = np.random.default_rng([seed, draw])
            gold = _judged(sample(world.runs, world.bronze, measures, budget=150, rng=rng).frame, world.gold.frame)
            ahead = forecast_half_widths(
                ReportInputs(runs=world.runs, judgments=world.bronze, measures=measures, gold=gold)
            )
            drawn = sample(world.runs, world.bronze, measures, budget=200, already=gold, rng=rng).frame
            one = correct(world.runs, world.bronze, _judged(drawn, world.gold.frame), measures)
            place = ahead.further.index(200)
            assert ahead.limits is not None
            held += [ahead.low[place] <= _half(one.corrected[ahead.run][str(measures[0])]) <= ahead.high[place],
                     ahead.limits[0] <= _half(truth[ahead.run][str(measures[0])]) <= ahead.limits[1]]  # fmt: skip
    assert np.mean(held) >= 0.8


def test_nothing_is_called_hardly_a_help_while_gold_leaves_much_open() -> None:
    ahead = replace(forecast_half_widths(simulated("documents")), now=0.1, limit=0.099, limits=(0.06, 0.1))
    assert not next_labels._is_hardly_worth_it(ahead)
    assert next_labels._is_hardly_worth_it(replace(ahead, limits=(0.095, 0.1)))


@pytest.mark.slow
@pytest.mark.parametrize("gold", ["none", "documents", "whole queries"])
def test_the_commands_can_be_pasted_and_do_what_they_say(
    gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    material = simulated(gold)  # type: ignore[arg-type]
    for run in material.runs:
        write_table(run, f"{run.name}.run")
    assert material.judgments is not None
    write_table(material.judgments, "bronze.qrels")
    paths = {"runs": [f"{run.name}.run" for run in material.runs], "judgments": ["bronze.qrels"], "gold": ["gold.csv"]}
    if isinstance(material.gold, Judgments):
        write_table(material.gold.frame.drop("judge"), "gold.csv")
    monkeypatch.setattr(shell_words, "MIN_GLOB_FILES", 4)  # a pattern would need a shell
    for call in made(replace(material, paths=paths)).calls:
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(shell_words.ShellSpelling().call(call))[1:])
        assert not ended.value.code
    assert Path("next.csv").exists()


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("further", [100, 400])
def test_on_real_labels_the_forecast_comes_true(data: Path, further: int) -> None:
    # Model labels of 2019 corrected by people's: what 300 gold labels forecast, and what more of them then give.
    material, ahead = _real(data)
    human = read_judgments(data / "dl19/human.qrels").frame
    expected = ahead.half_widths[ahead.further.index(further)]
    found = []
    for seed in range(5):
        drawn = sample(material.runs, material.judgments, material.measures, budget=further, already=material.gold,
                       rng=np.random.default_rng(seed)).frame.drop("label")  # fmt: skip
        one = correct(material.runs, material.judgments, _judged(drawn, human), material.measures)
        found.append(_half(one.corrected[ahead.run][material.measure]))
    assert float(np.mean(found)) == pytest.approx(expected, rel=0.12)


def _real(data: Path) -> tuple[ReportInputs, Forecast]:
    runs = tuple(read_run(path) for path in sorted(data.glob("dl19/runs/*.run")))[::4]
    bronze = read_judgments(data / "dl19/llm-umbrela_gpt4.qrels")
    measures = tuple(parse_all(["P(rel=2)@10"]))
    drawn = sample(runs, bronze, measures, budget=300, rng=np.random.default_rng(7)).frame
    gold = _judged(drawn, read_judgments(data / "dl19/human.qrels").frame)
    material = ReportInputs(runs=runs, judgments=bronze, measures=measures, gold=gold)
    return material, forecast_half_widths(material)


def _half(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return (estimate.high - estimate.low) / 2


def _judged(drawn: pl.DataFrame, human: pl.DataFrame) -> Judgments:
    labels = human.select("query", "doc", "label")
    both = drawn.drop("label", strict=False).join(labels, on=["query", "doc"], how="left", maintain_order="left")
    return Judgments.of(both.with_columns(pl.col("label").fill_null(0)))
