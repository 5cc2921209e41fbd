"""What the queries and documents of a simulated collection might say, so that people can judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from ringtrue.simulation.worlds.collection import Collection

THINGS = ("coat", "tent", "lamp", "backpack", "kettle", "jacket", "bicycle", "desk", "radio", "blanket")
TRAITS = ("waterproof", "light", "foldable", "quiet", "cheap", "warm", "sturdy", "small", "washable", "bright")
USES = ("winter", "children", "long journeys", "the office", "camping", "small rooms", "night shifts", "beginners")
CLOSING = (
    "Delivered in three days.",
    "Returned free of charge within a month.",
    "The makers repair it for five years.",
    "Customers who bought it often buy a second one.",
    "Last season's model, as long as there are any.",
    "Made in a small workshop by the sea.",
    "The picture shows it in blue.",
    "Sizes run a little small.",
)
MIN_FOOLED_LABEL = 2  # the label of bronze from which on a document shares the words of the query


def simulate_texts(world: Collection, *, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Topics and documents of a shop: a thing with a trait for a use, and offers that are that, nearly that, or not.

    The label of gold can be read from the text; where bronze was taken in, the words of the query are there, and the
    thing is another.

    Examples:
        >>> from ringtrue.simulation import simulate_collection
        >>> world = simulate_collection(rng=np.random.default_rng(1), queries=3)
        >>> topics, documents = simulate_texts(world, rng=np.random.default_rng(1))
        >>> topics["title"].to_list()
        ['cheap jacket for night shifts', 'bright coat for children', 'washable blanket for children']
    """
    query_ids = world.gold.frame["query"].unique(maintain_order=True).to_list()
    wanted = {
        query_id: (str(rng.choice(TRAITS)), str(rng.choice(THINGS)), str(rng.choice(USES))) for query_id in query_ids
    }
    labelled = world.gold.frame.join(
        world.bronze.frame.select("query", "doc", bronze="label"),
        on=["query", "doc"],
        how="left",
        maintain_order="left",
    )
    offers = [
        _offer(wanted[query], label, bronze or 0, rng)
        for query, label, bronze in labelled.select("query", "label", "bronze").iter_rows()
    ]
    topics = pl.DataFrame(
        {
            "query": query_ids,
            "title": [f"{trait} {thing} for {use}" for trait, thing, use in wanted.values()],
            "description": [
                f"Somebody wants to buy a {thing} that is {trait} and good for {use}."
                for trait, thing, use in wanted.values()
            ],
            "narrative": [
                f"Perfect: a {thing}, {trait}, for {use}. Good: a {thing} with one of the two. Weak: any other "
                f"{thing}. Anything that is no {thing} is not relevant, whatever words it uses."
                for trait, thing, use in wanted.values()
            ],
        }
    )
    titles, texts = zip(*offers, strict=True)
    documents = pl.DataFrame({"doc": labelled["doc"], "title": titles, "text": texts})
    return topics, documents.unique("doc", maintain_order=True)


def _offer(wanted: tuple[str, str, str], label: int, bronze: int, rng: np.random.Generator) -> tuple[str, str]:
    """Title and text of an offer that deserves the label."""
    trait, thing, use = wanted
    other_trait, other_thing, other_use = (
        str(rng.choice([word for word in words if word != wanted_word]))
        for words, wanted_word in zip((TRAITS, THINGS, USES), wanted, strict=True)
    )
    closing = " ".join(map(str, rng.choice(CLOSING, 2, replace=False)))
    if label <= 0 and bronze >= MIN_FOOLED_LABEL:
        text = f"Your {thing} stays {trait}, in {use} and at any time. The {thing} itself is not part of the offer."
        return f"Spray that keeps a {thing} {trait}", f"{text} {closing}"
    if label <= 0:
        return f"{other_thing.capitalize()} for {other_use}", f"A {other_trait} {other_thing}. {closing}"
    if label == 1:
        return f"{thing.capitalize()} for {other_use}", f"A {other_trait} {thing} for {other_use}. {closing}"
    if label == 2 and rng.random() < 0.5:
        return f"{trait.capitalize()} {thing}", f"A {trait} {thing}, made for {other_use}. {closing}"
    if label == 2:
        return f"{thing.capitalize()} for {use}", f"A {other_trait} {thing}, made for {use}. {closing}"
    return f"{trait.capitalize()} {thing} for {use}", f"A {trait} {thing}, made for {use}. {closing}"
