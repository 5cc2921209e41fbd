"""Tables that come from real data: what they say is what the code finds.

    RINGTRUE_DATA=… .venv/bin/python docs/tables.py            print every table
    RINGTRUE_DATA=… .venv/bin/python docs/tables.py --write    put them where the pages have their places

A place is between `<!-- table: NAME -->` and `<!-- /table -->`; NAME is one of `TABLES`. The data are the folders
`web5` and `rf10` of the folder that RINGTRUE_DATA names.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from ringtrue.aggregation import METHODS, Aggregation, aggregate
from ringtrue.intervals import share_estimate

DOCS = Path(__file__).parent
PLACE = re.compile(r"(?P<open><!-- table: (?P<name>[\w-]+) -->\n).*?(?P<close><!-- /table -->)", re.S)
WAYS: dict[str, dict[str, Any]] = {method: {"method": method} for method in METHODS}
WAYS["dawid-skene, no prior"] = {"method": "dawid-skene", "prior": None}
ONE_LABEL, ENOUGH = 0.8, 20  # a judge of one label: this share of at least so many labels


def main(arguments: list[str]) -> None:
    """Print the tables, or write them into the pages."""
    if "--write" not in arguments:
        print("\n\n".join(f"{name}\n\n{make()}" for name, make in TABLES.items()))
        return
    for page in sorted(DOCS.rglob("*.md")):
        if PLACE.search(page.read_text()):
            page.write_text(updated(page.read_text()))


def updated(text: str) -> str:
    """The text of a page with its tables as they should be."""
    return PLACE.sub(lambda place: f"{place['open']}\n{TABLES[place['name']]()}\n\n{place['close']}", text)


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


def _percent(items: pl.DataFrame) -> str:
    one = share_estimate(items["right"].to_numpy(), _clusters(items))
    return f"{100 * (one.value or 0):.1f} ({100 * (one.low or 0):.1f} to {100 * (one.high or 0):.1f})"


def _clusters(items: pl.DataFrame) -> Any:
    """Items of one query are alike; where there is one query, each stands for itself."""
    by = "query" if items["query"].n_unique() > 1 else "doc"
    return items[by].rank("dense").to_numpy()


def table(columns: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


TABLES: dict[str, Callable[[], str]] = {"accuracy": accuracy, "accuracy-by-label": by_label, "crowd": crowd}

if __name__ == "__main__":
    main(sys.argv[1:])
