"""Tables that come from real data: what they say is what the code finds.

    RINGTRUE_DATA=… .venv/bin/python docs/tables.py            print every table
    RINGTRUE_DATA=… .venv/bin/python docs/tables.py --write    put them where the pages have their places

A place is between `<!-- table: NAME -->` and `<!-- /table -->`; NAME is one of `TABLES`, which has those of
`paper_tables.py` too. The data are the folders `web5`, `rf10`, `dl19`, `dl21`, `cast19`, `arena`, `nyt17` and
`cranfield` of the folder that RINGTRUE_DATA names.

Other tables come from studies that take long, and stay as they are until somebody brings what a study found:

    ringtrue simulate real --data $RINGTRUE_DATA/dl19 --data $RINGTRUE_DATA/dl21 --json > real.json    (half an hour)
    ringtrue simulate rates --json > rates.json                                                        (ten minutes)
    ringtrue simulate preferences --json > preferences.json                                            (two minutes)
    .venv/bin/python docs/tables.py --write --study real.json --study rates.json --study preferences.json
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import polars as pl

import ringtrue as rt
from ringtrue.judges.aggregation import METHODS, Aggregation, aggregate
from ringtrue.preference.compare_ratings import RATING_METHODS as WAYS_TO_RATE
from ringtrue.stats.intervals import estimate_share

DOCS = Path(__file__).parent
PLACE = re.compile(r"(?P<open><!-- table: (?P<name>[\w-]+) -->\n).*?(?P<close><!-- /table -->)", re.S)
WAYS: dict[str, dict[str, Any]] = {method: {"method": method} for method in METHODS}
WAYS["dawid-skene, no prior"] = {"method": "dawid-skene", "prior": None}
ONE_LABEL, ENOUGH = 0.8, 20  # a judge of one label: this share of at least so many labels
RUN, PRECISION, DCG, NDCG = "bm25base_p", "P(rel=2)@10", "DCG@10", "nDCG@10"
JUDGES = ("umbrela_gpt4", "binary_gpt4", "binary_gpt4o", "binary_llama3.2")  # the best first
FROM_VOTES = 10  # labels from here on were made from the votes themselves
Study = Mapping[str, Any]


def main(arguments: list[str]) -> None:
    """Print the tables, or write them into the pages."""
    files = [arguments[place + 1] for place, word in enumerate(arguments) if word == "--study"]
    found = [json.loads(Path(file).read_text()) for file in files]
    studies = {study["study"]: study for study in found}
    if "--write" not in arguments:
        made = {name: make() for name, make in TABLES.items()}
        made |= {name: make(studies[study]) for name, (study, make) in OF_STUDIES.items() if study in studies}
        print("\n\n".join(f"{name}\n\n{text}" for name, text in made.items()))
        return
    for page in sorted(DOCS.rglob("*.md")):
        if PLACE.search(page.read_text()):
            page.write_text(updated(page.read_text(), studies))


def updated(text: str, studies: Mapping[str, Study] | None = None) -> str:
    """The text of a page with its tables as they should be; those of studies that are not given stay as they are."""

    def made(place: re.Match[str]) -> str:
        name = place["name"]
        if name in TABLES:
            return f"{place['open']}\n{TABLES[name]()}\n\n{place['close']}"
        study, make = OF_STUDIES[name]
        return f"{place['open']}\n{make(studies[study])}\n\n{place['close']}" if study in (studies or {}) else place[0]

    return PLACE.sub(made, text)


@cache
def data(name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The judges' labels, and the truth of some items: query, doc, gold."""
    folder = Path(os.environ["RINGTRUE_DATA"])
    if name == "web5":
        labels = pl.read_csv(folder / "web5/label.csv", schema_overrides={"item": pl.String, "worker": pl.String})
        truth = pl.read_csv(folder / "web5/truth.csv", schema_overrides={"item": pl.String})
        labels = labels.select(query=pl.lit("0"), doc="item", judge="worker", label="label")
        return labels, truth.select(query=pl.lit("0"), doc="item", gold="truth")
    table = pl.read_csv(folder / "rf10/labels.csv", schema_overrides={"topic": pl.String})
    labels = table.filter(pl.col("label") >= 0).select(query="topic", doc="doc", judge="worker", label="label")
    truth = table.filter(pl.col("gold") >= 0).select(query="topic", doc="doc", gold="gold").unique()
    if name == "rf10 that vary":
        labels = labels.join(judges_of_one_label(labels), on="judge", how="anti")
    return labels, truth


def judges_of_one_label(labels: pl.DataFrame) -> pl.DataFrame:
    """The judges who nearly always said the same."""
    said = (
        labels.group_by("judge", "label")
        .len()
        .group_by("judge")
        .agg(pl.col("len").max(), pl.col("len").sum().alias("all"))
    )
    return said.filter((pl.col("len") >= ONE_LABEL * pl.col("all")) & (pl.col("all") >= ENOUGH)).sort("all", "judge")


@cache
def found(name: str, way: str) -> Aggregation:
    """The labels that a method finds; every label that a judge gave counts."""
    return aggregate(data(name)[0], repeats="all", **WAYS[way])


def scored(name: str, way: str) -> pl.DataFrame:
    """The items whose truth is known, and whether the label is right."""
    items = found(name, way).items.join(data(name)[1], on=["query", "doc"], how="inner", maintain_order="left")
    return items.with_columns(right=pl.col("label") == pl.col("gold"))


def accuracy() -> str:
    """How often each method finds the true label."""
    names = ("web5", "rf10", "rf10 that vary")
    rows = [[f"`{way}`" if way in METHODS else way, *(_percent(scored(name, way)) for name in names)] for way in WAYS]
    return table(["method", "web5", "rf10", "rf10, without judges of one label"], rows)


def by_label() -> str:
    """How often each method finds the true label, for each true label."""
    columns = [(name, label) for name in ("web5", "rf10") for label in found(name, "majority").labels]
    shares = {
        (name, way): dict(scored(name, way).group_by("gold").agg(pl.col("right").mean()).iter_rows())
        for name in ("web5", "rf10")
        for way in WAYS
    }
    rows = [
        [f"`{way}`" if way in METHODS else way, *(f"{100 * shares[name, way][label]:.0f}" for name, label in columns)]
        for way in WAYS
    ]
    return table(["method", *(f"{name}: {label}" for name, label in columns)], rows)


def crowd() -> str:
    """What the judges say of items whose truth is known, in percent; and how common each label is."""
    rows = []
    for name in ("web5", "rf10"):
        labels, truth = data(name)
        both = labels.join(truth, on=["query", "doc"], how="inner")
        for gold in sorted(truth["gold"].unique()):
            said = both.filter(pl.col("gold") == gold)["label"]
            shares = [f"{100 * (said == label).mean():.0f}" for label in range(5 if name == "web5" else 3)]
            common = f"{100 * (truth['gold'] == gold).mean():.0f}"
            rows.append([name, str(gold), common, *shares, *["–"] * (5 - len(shares))])
    return table(["data", "true label", "of the items", *(f"said {label}" for label in range(5))], rows)


def disagreement() -> str:
    """What the user disagreement model predicts, and what happened, where documents have six labels or more."""
    labels = pl.read_csv(Path(os.environ["RINGTRUE_DATA"]) / "rf10/labels.csv", schema_overrides={"topic": pl.String})
    shares = ("1/2", "1/3", "1/4", "1/5", "2/3", "2/4", "2/5")
    found = rt.disagree(labels, "1/3", repeats="all", gold_as_judge="gold", min_labels=6, verify=shares)
    rows = []
    for place, share in enumerate(shares):
        by_level = found.verified[3 * place : 3 * place + 3]
        cells = [f"{one.value or 0:.3f}" for check in by_level for one in (check.experimental, check.predicted)]
        rows.append([share, *cells])
    columns = [f"{label}: {what}" for label in found.levels for what in ("experimental", "predicted")]
    return table(["M/N, given", *columns], rows)


def mutual() -> str:
    """Each measure of the order by one judge, scored by the other: people and a model, and pairs of a crowd."""
    folder = Path(os.environ["RINGTRUE_DATA"])
    judges = ("human", "llm-umbrela_gpt4")
    both = [rt.read_judgments(folder / f"dl19/{name}.qrels").frame.select("query", "doc", "label", judge=pl.lit(name))
            for name in judges]  # fmt: skip
    found = [rt.mutual_evaluation(pl.concat(both)), rt.mutual_evaluation(data("rf10")[0], repeats="last")]
    return table(
        ["measure", "dl19: mean ± sd", "queries", "rf10: mean ± sd", "queries"],
        [[one[0], *(cell for row in (one, other) for cell in (f"{row[1]:.2f} ± {row[2]:.2f}", str(row[3])))]
         for one, other in zip(*(answer.table.rows() for answer in found), strict=True)],
    )  # fmt: skip


def misled() -> str:
    """P@10 of one run by each judge, by gold, and as published; and how often the judge is right, there and in all."""
    folder = Path(os.environ["RINGTRUE_DATA"]) / "dl19"
    gold, run = rt.read_judgments(folder / "human.qrels"), rt.read_run(folder / f"runs/{RUN}.run")
    truth = rt.evaluate(run, gold, PRECISION).means()[RUN][PRECISION].value or 0
    rows = []
    for judge in JUDGES:
        bronze = rt.read_judgments(folder / f"llm-{judge}.qrels")
        lowest = min(2, int(bronze.frame["label"].max()))  # type: ignore[arg-type]
        found = rt.correct(run, bronze, gold, PRECISION, design="external", bronze_rel=lowest)
        both = gold.frame.select("query", "doc", gold=pl.col("label") >= 2).join(
            bronze.frame.select("query", "doc", bronze=pl.col("label") >= lowest), on=["query", "doc"]
        )
        top = both.join(run.ranked(10), on=["query", "doc"], how="semi")
        scores = (found.raw[RUN][PRECISION].value or 0, truth, found.corrected[RUN][PRECISION].value or 0)
        rows.append([judge, *(f"{score:.3f}" for score in scores), _right(both), _right(top)])
    columns = ["judge", "bronze says", "gold says", "as published", "right in the whole pool", "right in the top ten"]
    return table(columns, rows)


def rated() -> str:
    """Ratings from the votes of CAsT 2019 against its grades 0 to 4: AUC and tau, means over queries."""
    folder = Path(os.environ["RINGTRUE_DATA"]) / "cast19"
    labels = pl.read_csv(folder / "TREC-CAsT-2019.qrels", separator=" ", has_header=False,
                         new_columns=["query", "iteration", "doc", "label"])  # fmt: skip
    gold = labels.filter(pl.col("label") < FROM_VOTES).select("query", "doc", pl.col("label").cast(pl.Int32))
    columns, cells = ["method"], {}
    for file, name in (("TREC-CAsT-2019.pref", "top"), ("TREC-CAsT-2019.local.pref", "any")):
        votes = rt.read_preferences(folder / file)
        for rel in (3, 4):
            found = rt.compare_ratings(votes, gold=gold, rel=rel).methods
            scored = sum(value is not None for query, value in _auc(found["elo"]).items() if query != "all")
            columns.append(f"{name}: AUC of {rel} and above ({scored} queries)" if rel < 4 else f"AUC of 4 ({scored})")
            for method, one in found.items():
                cells.setdefault(method, []).append(f"{_auc(one)['all']:.3f}")
        columns.append("tau")
        for method, one in found.items():
            cells[method].append(f"{(one.tau or {})['all']:.3f}")
    return table(columns, [[f"`{method}`", *row] for method, row in cells.items()])


def _auc(one: rt.MethodScores) -> Mapping[str, float | None]:
    assert one.auc is not None
    return one.auc


def foretold() -> str:
    """How well each method foretells a tenth of the votes from the others."""
    folder, columns, cells = Path(os.environ["RINGTRUE_DATA"]), ["method"], {}
    for file in ("dl21/human.pref", "cast19/TREC-CAsT-2019.pref", "arena/llmfao.csv"):
        found = rt.compare_ratings(rt.read_preferences(folder / file), folds=10, repeats="all").methods
        columns += [f"{file.split('/')[0]}: right", "log loss"]
        for method in WAYS_TO_RATE:
            said = found[method].held_out if method in found else None
            right = "–" if said is None or said.accuracy is None else f"{said.accuracy:.1%}"
            loss = "–" if said is None or said.log_loss is None else f"{said.log_loss:.3f}"
            cells.setdefault(method, []).extend([right, loss])
    return table(columns, [[f"`{method}`", *row] for method, row in cells.items()])


def _right(both: pl.DataFrame) -> str:
    """How often bronze is right on relevant and on other documents."""
    hits, rejected = (
        (both.filter(pl.col("gold") == kind)["bronze"] == kind).cast(pl.Float64).mean() for kind in (True, False)
    )
    return f"{hits:.0%}, {rejected:.0%}"


def published(study: Study) -> str:
    """The published correction beside the difference estimator."""
    rows = []
    for where, judge in _judges(study):
        theirs, ours = (_row(study, where, judge, PRECISION, method) for method in ("published", "difference"))
        held = _share(theirs, "coverage"), _share(theirs, "lowest"), _off(theirs), _share(ours, "coverage"), _off(ours)
        rows.append([f"{where}, {judge}", *held])
    columns = ["data and judge", "published: held", "lowest run", "off by", "difference: held", "off by"]
    return table(columns, rows) + _drawn(study)


def means(study: Study) -> str:
    """Intervals for the mean of each run."""
    return _held(study, (PRECISION, DCG), "difference", "run")


def differences(study: Study) -> str:
    """Intervals for the difference of two runs; their width also against gold alone from the tops of the two."""
    return _held(study, (f"{PRECISION}, a − b", f"{DCG}, a − b"), "difference, 150 labels by sample", "pair",
                 beside=("of the two", "gold alone, 150 random labels of both"))  # fmt: skip


def queries(study: Study) -> str:
    """Intervals for nDCG from few and from more whole queries."""
    counts = sorted(int(row["method"].split()[1]) for row in study["rows"]
                    if row["measure"] == NDCG and row["method"].startswith("difference")
                    and (row["collection"], row["judge"]) == _judges(study)[0])  # fmt: skip
    columns, rows = ["data and judge"], [[f"{where}, {judge}"] for where, judge in _judges(study)]
    for count in counts:
        columns += [f"{count} queries: held", "lowest run", "width"]
        for line, (where, judge) in zip(rows, _judges(study), strict=True):
            row = _row(study, where, judge, NDCG, f"difference, {count} ")
            line += [_share(row, "coverage"), _share(row, "lowest"), f"{row['width']:.2f}"]
    return table(columns, rows) + _drawn(study)


def new_family(study: Study) -> str:
    """A family of runs that came after the sample: extended by some labels, and by the old labels alone."""
    columns, rows, families = ["data and judge"], [], {}
    for measure in (PRECISION, DCG):
        columns += [f"{measure}: held", "lowest run", "new runs, not extended", "lowest"]
    for where, judge in _judges(study):
        line = [f"{where}, {judge}"]
        for measure in (PRECISION, DCG):
            extended = _row(study, where, judge, measure, "extended to")
            alone = _row(study, where, judge, measure, "", " by the old ")
            line += [_share(row, name) for row in (extended, alone) for name in ("coverage", "lowest")]
            families[where] = f"{alone['method'].split('*')[0]}…, {alone['runs']} of {extended['runs']} runs"
        rows.append(line)
    came = "; ".join(f"{where}: {family}" for where, family in families.items())
    return table(columns, rows) + _drawn(study).replace(".)", f"; what came later: {came}.)")


def lost_labels(study: Study) -> str:
    """Bounds, and the interval, where one label in twenty is lost, the most surprising ones."""
    columns, rows = ["data and judge"], [[f"{where}, {judge}"] for where, judge in _judges(study)]
    for measure in (PRECISION, DCG):
        columns += [f"{measure}: bounds held", "lowest run", "interval held", "bounds to interval"]
        for line, (where, judge) in zip(rows, _judges(study), strict=True):
            bounds, plain = (_row(study, where, judge, measure, method) for method in ("bounds", "interval"))
            line += [_share(bounds, "coverage"), _share(bounds, "lowest"), _share(plain, "coverage")]
            line += [f"{bounds['width']:.2f}"]
    return table(columns, rows) + _drawn(study)


def forecasts(study: Study) -> str:
    """How wide intervals came, relative to what was forecast, for each number of labels."""
    labels = sorted({row["labels"] for row in study["forecast"] if row["measure"] != NDCG})
    found = {
        (row["collection"], row["judge"], row["measure"], row["population"], row["labels"]): f"{row['ratio']:.2f}"
        for row in study["forecast"]
    }
    columns, rows = ["data and judge"], []
    settings = [(measure, population) for population in ("these", "like-these") for measure in (PRECISION, DCG)]
    for measure, population in settings:
        first = f"{measure}, {population.replace('-', ' ')}: {labels[0]}"
        columns += [first, *(str(count) for count in labels[1:])]
    for where, judge in _judges(study, "forecast"):
        cells = [found[where, judge, *setting, count] for setting in settings for count in labels]
        rows.append([f"{where}, {judge}", *cells])
    return table(columns, rows) + _drawn(study, "forecast")


def query_forecasts(study: Study) -> str:
    """The same for whole queries."""
    rows = [row for row in study["forecast"] if row["measure"] == NDCG]
    columns = ["data and judge", f"{NDCG}, these: {rows[0]['labels']} queries", "like these"]
    found = {(row["collection"], row["judge"], row["population"]): f"{row['ratio']:.2f}" for row in rows}
    lines = [
        [f"{where}, {judge}", *(found[where, judge, population] for population in ("these", "like-these"))]
        for where, judge in _judges(study, "forecast")
    ]
    return table(columns, lines) + _drawn(study, "forecast")


def rates(study: Study) -> str:
    """Intervals of scores corrected by a judge's rates."""
    names = {"fieller": "Fieller's, adjusted", "wald": "Wald, as published", "bootstrap": "Algorithm 1, as published"}
    rows = [
        [f"{kind}: {name}", f"{100 * held['mean']:.1f}", f"{100 * held['min']:.1f}", f"{held['below_0.9']:,}",
         f"{held['below_0.5']:,}"]
        for kind in ("usual", "harder")
        for way, name in names.items()
        for held in [study[kind][way]]
    ]  # fmt: skip
    return table(["worlds and interval", "held", "in the worst world", "worlds below 90", "below 50"], rows)


def simulated_methods(study: Study) -> str:
    """Every method of rating on the same simulated votes, with few and with many bad workers."""
    worlds = list(dict.fromkeys((row["random"], row["adversarial"]) for row in study["methods"]))
    columns, cells = ["method"], {}
    for guess, oppose in worlds:
        columns += [f"{guess:.0%} guess, {oppose:.0%} oppose: AUC", "nDCG@10"]
    for row in study["methods"]:
        told = [f"{row[name]:.3f} ± {row[f'{name}_se']:.3f}" for name in ("auc", "ndcg")]
        cells.setdefault(row["method"], []).extend(told)
    return table(columns, [[f"`{method}`", *row] for method, row in cells.items()])


def simulated_designs(study: Study) -> str:
    """nDCG@10 by sensitivity with each design, after so many votes on a topic."""
    rows = [row for row in study["designs"] if row["method"] == "sensitivity"]
    shares = {row["share"]: f"{row['votes']:,.0f} votes" for row in rows if row["design"] == "active"}
    columns, cells = ["design"], {}
    for place, _ in enumerate(dict.fromkeys(row["initial"] for row in rows)):
        columns += [f"{'a good' if place == 0 else 'a poor'} initial order: {votes}" if share == min(shares) else votes
                    for share, votes in shares.items()]  # fmt: skip
    for row in rows:
        cells.setdefault(row["design"], []).append(f"{row['ndcg']:.3f} ± {row['ndcg_se']:.3f}")
    return table(columns, [[f"`{design}`", *row] for design, row in cells.items()])


def simulated_intervals(study: Study) -> str:
    """How often intervals of ratings held the truth."""
    rows = [
        [f"{row['says']}: {row['interval']}", f"{100 * row['coverage']:.1f} ± {100 * row['se']:.1f}",
         f"{100 * row['best']:.0f}", f"{row['width']:.2f}", "yes" if row["promised"] else "no"]
        for row in study["coverage"]
    ]  # fmt: skip
    return table(["votes and interval", "held", "best tenth", "width", "promised"], rows)


def _judges(study: Study, part: str = "rows") -> list[tuple[str, str]]:
    """Collections and judges, the best judge first."""
    there = dict.fromkeys((row["collection"], row["judge"]) for row in study[part])
    return sorted(there, key=lambda one: (one[0], JUDGES.index(one[1]) if one[1] in JUDGES else len(JUDGES)))


def _row(study: Study, where: str, judge: str, measure: str, method: str, containing: str = "") -> Mapping[str, Any]:
    """The one row of a study for this method, by how its name begins, and by what it contains."""
    asked = {"collection": where, "judge": judge, "measure": measure}
    found = [row for row in study["rows"] if asked.items() <= row.items()
             and row["method"].startswith(method) and containing in row["method"]]  # fmt: skip
    assert len(found) == 1, (asked, method, len(found))
    return found[0]


def _held(study: Study, measures: Iterable[str], method: str, of: str, *, beside: tuple[str, str] | None = None) -> str:
    """How often intervals held the truth, also for the lowest, and their width; also relative to another method."""
    columns, rows = ["data and judge"], [[f"{where}, {judge}"] for where, judge in _judges(study)]
    for measure in measures:
        columns += [f"{measure}: held", f"lowest {of}", "width", *([beside[0]] if beside else [])]
        for line, (where, judge) in zip(rows, _judges(study), strict=True):
            row = _row(study, where, judge, measure, method)
            line += [_share(row, "coverage"), _share(row, "lowest"), f"{row['width']:.2f}"]
            line += [f"{row['width'] / _row(study, where, judge, measure, beside[1])['width']:.2f}"] if beside else []
    return table(columns, rows) + _drawn(study)


def _drawn(study: Study, part: str = "rows") -> str:
    return f"\n\n({max(row['draws'] for row in study[part]):,} draws for each line.)"


def _share(row: Mapping[str, Any], name: str) -> str:
    return f"{100 * row[name]:.1f}"


def _off(row: Mapping[str, Any]) -> str:
    return f"{row['bias']:+.3f}".replace("-", "−") if round(row["bias"], 3) else "0.000"


def _percent(items: pl.DataFrame) -> str:
    one = estimate_share(items["right"].to_numpy(), _clusters(items))
    return f"{100 * (one.value or 0):.1f} ({100 * (one.low or 0):.1f} to {100 * (one.high or 0):.1f})"


def _clusters(items: pl.DataFrame) -> Any:
    """Items of one query are alike; where there is one query, each stands for itself."""
    by = "query" if items["query"].n_unique() > 1 else "doc"
    return items[by].rank("dense").to_numpy()


def table(columns: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def of_papers() -> dict[str, Callable[[], str]]:
    """The tables of `paper_tables.py`, which is found beside this file however this file was loaded."""
    spec = spec_from_file_location("paper_tables", DOCS / "paper_tables.py")
    assert spec is not None
    assert spec.loader is not None
    papers = module_from_spec(spec)
    spec.loader.exec_module(papers)
    return {name: lambda make=make: table(*make()) for name, make in papers.PAPER_TABLES.items()}


TABLES: dict[str, Callable[[], str]] = {
    "accuracy": accuracy,
    "accuracy-by-label": by_label,
    "crowd": crowd,
    "disagreement": disagreement,
    "foretold": foretold,
    "misled": misled,
    "mutual": mutual,
    "rated": rated,
    **of_papers(),
}
OF_STUDIES: dict[str, tuple[str, Callable[[Study], str]]] = {
    "published": ("real", published),
    "means": ("real", means),
    "new-family": ("real", new_family),
    "lost-labels": ("real", lost_labels),
    "differences": ("real", differences),
    "queries": ("real", queries),
    "forecasts": ("real", forecasts),
    "query-forecasts": ("real", query_forecasts),
    "rates": ("rates", rates),
    "simulated-methods": ("preferences", simulated_methods),
    "simulated-designs": ("preferences", simulated_designs),
    "simulated-intervals": ("preferences", simulated_intervals),
}

if __name__ == "__main__":
    main(sys.argv[1:])
