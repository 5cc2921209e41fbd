"""How the gold labels came to be: the fact that decides what can be concluded from them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from ringtrue.errors import InputError, MismatchError, TableError, UsageError, did_you_mean
from ringtrue.evaluation.measures import FloatArray, Measure, parse_all
from ringtrue.gold.correction.difference import GoldSample
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.designs import DESIGNS, Design
from ringtrue.tables import Judgments

__all__ = [
    "DESIGNS",
    "DIFFERENCES",
    "DRAWN_FOR",
    "DRAWN_FROM",
    "Design",
    "design_of",
    "drawn_to_compare",
    "gold_sample",
    "judged_gold",
    "usual_measures",
]

BY_DOCUMENT = ("P@10", "DCG@10")
FEWEST = 2
DRAWN = "drawn"  # a column of samples: how many documents were drawn in all
DRAWN_FROM = "drawn_from"  # another: the signature of the pool
MOST_LOST = 0.05  # of a draw
SMALLEST = 1e-9  # probability: a document that stands for more than a billion others stands for none
DRAWN_FOR, DIFFERENCES = "drawn_for", "differences of "  # a column of samples that serve for comparisons alone


def design_of(gold: Judgments, asked: Design | None = None) -> Design:
    """How the gold labels were drawn: what was said, or what their column `design` says.

    Examples:
        >>> gold = Judgments.of({"query": ["q"], "doc": ["d"], "label": [1], "design": ["pool_random"]})
        >>> design_of(gold)
        'pool_random'
    """
    silent = "design" not in gold.frame.columns or gold.frame["design"].null_count()
    if asked is not None and silent:
        return _known_design(asked, "--design")
    if silent:
        told = "; ".join(f"{name}: {words}" for name, words in DESIGNS.items())
        raise InputError(
            f"the gold labels do not say how they were drawn, and without it nothing can be concluded from them: say "
            f"--design NAME, or give the file a column design. There is {told}"
        )
    found = gold.frame["design"].cast(pl.String).unique(maintain_order=True).to_list()
    if len(found) > 1:
        raise InputError(
            f"the gold labels were drawn in several ways ({', '.join(found[:3])}), and only one can be corrected with "
            f"at a time; keep one of them (--gold-where design={found[0]})"
        )
    said = _known_design(found[0], "column design")
    if asked not in (None, said):
        raise UsageError(
            f"--design {asked}: the gold labels say themselves that they are '{said}' (column design), and what can be "
            f"concluded depends on it; leave the option out"
        )
    return said


def usual_measures(gold: object, usual: Iterable[str], asked: Design | None = None) -> tuple[str, ...]:
    """The measures where none is named: gold labels of single documents serve only those that are sums.

    Examples:
        >>> gold = Judgments.of({"q": {"d": 1}})
        >>> [usual_measures(gold, ["nDCG@10"], design) for design in ("whole_queries", "pool_random")]
        [('nDCG@10',), ('P@10', 'DCG@10')]
    """
    whole = isinstance(gold, Judgments) and design_of(gold, asked) == "whole_queries"
    return tuple(usual) if whole else BY_DOCUMENT


def judged_gold(gold: Judgments, design: Design) -> tuple[Judgments, tuple[str, ...]]:
    """The gold labels that say something, one for each document: a negative label is a document that was not judged.

    A draw holds only if all that was drawn is judged, for those that are left out may be just the hard ones: a few are
    noted, more are refused.
    """
    gold.require_one_label_each()
    kept = gold.frame.filter(pl.col("label") >= 0)
    left = gold.frame.height - kept.height
    if not kept.height:
        raise InputError("every gold label is negative, which says 'not judged': there is nothing to correct with")
    drawn = gold.frame.height if design == "external" else _drawn(gold)
    notes = []
    if left:
        some = "1 gold label is" if left == 1 else f"{left:,} gold labels are"
        notes.append(f"left out: {some} negative, which says 'not judged'")
    if drawn != gold.frame.height:
        here = "1 is" if gold.frame.height == 1 else f"{gold.frame.height:,} are"
        notes.append(f"{drawn:,} documents were drawn, and {here} here: were rows lost, or added?")
    if design != "external" and abs(drawn - kept.height) > MOST_LOST * drawn:
        told = "; ".join(notes)
        raise InputError(
            f"{told}{'' if told.endswith('?') else '.'} A draw holds only if all of it is judged; give each document a "
            f"label, 0 where nothing about it can be relevant"
        )
    return Judgments(kept), tuple(notes)


def _drawn(gold: Judgments) -> int:
    """How many documents were drawn, where the draw says it; as many as there are where it does not."""
    if DRAWN not in gold.frame.columns:
        return gold.frame.height
    told = gold.frame[DRAWN].cast(pl.String).unique(maintain_order=True).to_list()
    if len(told) > 1:
        raise InputError(
            f"the gold labels are of several draws (of {', '.join(map(str, told[:3]))} documents, by their column "
            f"drawn), and the probabilities of one do not hold for both; `ringtrue sample --already` continues a draw"
        )
    try:
        return int(float(told[0]))
    except (TypeError, ValueError, OverflowError):
        raise TableError(f"column drawn: expected how many documents were drawn, found '{told[0]}'") from None


def drawn_to_compare(gold: Judgments) -> tuple[Measure, ...]:
    """The measures by which the gold labels were drawn to compare runs; none where they serve for single runs too.

    Examples:
        >>> compared = {"query": ["q"], "doc": ["d"], "label": [1], "drawn_for": ["differences of P@10"]}
        >>> [str(measure) for measure in drawn_to_compare(Judgments.of(compared))]
        ['P@10']
    """
    if DRAWN_FOR not in gold.frame.columns:
        return ()
    told = gold.frame[DRAWN_FOR].drop_nulls().cast(pl.String).unique(maintain_order=True).to_list()
    return tuple(parse_all(word.removeprefix(DIFFERENCES) for word in told if word.startswith(DIFFERENCES)))


def gold_sample(gold: Judgments, design: Design, pool: Pool) -> tuple[GoldSample, tuple[str, ...]]:
    """The gold labels of documents that the runs show, with their probabilities; a note counts the others."""
    notes: list[str] = []
    places = pool.places(gold.frame)
    here = places >= 0
    if not here.any():
        query, doc = gold.frame.row(0)[:2]
        raise MismatchError(
            f"no gold document is in any run's top {pool.depth}: gold has document '{doc}' of query '{query}'; are the "
            f"ids of the same kind? Draw gold with `ringtrue sample`"
        )
    outside = int((~here).sum())
    if outside:
        verb = "is" if outside == 1 else "are"
        notes.append(
            f"{outside:,} of {len(here):,} gold documents {verb} in no run's top {pool.depth}: worth nothing here, and "
            f"left out. `ringtrue sample` draws from what the runs show"
        )
    kept = gold.frame.filter(pl.Series(here))
    if kept.height < FEWEST:
        raise InputError(
            f"expected at least {FEWEST} gold labels among the {len(pool):,} documents in the runs' top {pool.depth}, "
            f"found {kept.height}; draw more with `ringtrue sample`"
        )
    return GoldSample(
        places=places[here],
        labels=kept["label"].to_numpy().astype(np.int64),
        prob=_probabilities(kept, design, len(pool)),
        spread=not outside and _spread(kept, pool),
    ), tuple(notes)  # fmt: skip


def _spread(kept: pl.DataFrame, pool: Pool) -> bool:
    """Whether `sample` drew it from this very pool: then so many from each query, and spread over what is alike here.

    Of a part of a draw it is chance how many come from a query, and by another judge's labels others are alike.
    """
    if DRAWN_FROM not in kept.columns:
        return False
    return bool(kept[DRAWN_FROM].cast(pl.String).eq_missing(pl.Series([pool.signature])).all())


def _probabilities(kept: pl.DataFrame, design: Design, documents: int) -> FloatArray:
    if "prob" in kept.columns:
        if kept["prob"].null_count():
            query, doc = kept.filter(pl.col("prob").is_null()).row(0)[:2]
            raise TableError(
                f"the gold label of document '{doc}' of query '{query}' has no probability in column prob; "
                f"every gold label needs how probable it was to be drawn, above 0 and up to 1"
            )
        prob = kept["prob"].to_numpy().astype(np.float64)
        if prob.min() < SMALLEST:
            query, doc = kept.row(int(prob.argmin()))[:2]
            raise TableError(
                f"the gold label of document '{doc}' of query '{query}' has a probability of {prob.min():.3g} in "
                f"column prob; no document is drawn with less than {SMALLEST:g}"
            )
        return prob
    if design == "pool_random":
        return np.full(kept.height, kept.height / documents)
    raise TableError(
        "a stratified sample needs the probability of each document to be drawn in a column prob, as `ringtrue sample` "
        "writes it; if each was as probable as any other, say --design pool_random"
    )


def _known_design(word: str, where: str) -> Design:
    known: dict[str, Design] = {design: design for design in DESIGNS}
    if word in known:
        return known[word]
    near = did_you_mean(word, DESIGNS) or f"; there is {', '.join(DESIGNS)}"
    error = UsageError if where.startswith("--") else InputError
    raise error(f"{where}: no design '{word}'{near}")
