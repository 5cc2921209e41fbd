"""How the gold labels came to be: the fact that decides what can be concluded from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ringtrue.errors import InputError, MismatchError, TableError, UsageError, did_you_mean
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, parse_all
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.correction.sampling_frame import SamplingFrame
from ringtrue.gold.designs import DESIGNS, Design
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Judgments

DOCUMENT_MEASURES = ("P@10", "DCG@10")
MIN_GOLD_LABELS = 2
DRAWN_COLUMN = "drawn"  # a column of samples: how many documents were drawn in all
DRAWN_FROM_COLUMN = "drawn_from"  # another: the signature of the pool
EXTENDED_SUFFIX = "+"  # of the signature of a sample that was drawn in parts, from one pool after another
MAX_LOST_SHARE = 0.05  # of a draw
MIN_PROBABILITY = 1e-9  # probability: a document that stands for more than a billion others stands for none
DRAWN_FOR_COLUMN = "drawn_for"  # a column of samples that serve for comparisons alone
FRAME_DESIGNS = ("pool_stratified", "pool_random")  # designs whose sample has a sampling frame
UNSTATED_REASON, MAX_REASONS = "not judged (a negative label)", 5
UNDISCOUNTED = ("P", "CG")  # measures in which all ranks weigh the same
COMPARISON_PREFIX = "differences of "  # how its cells begin


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldSample:
    """Documents of a pool with a gold label: their positions there, the labels, and how probable it was to draw each.

    `balanced` says that the sample was drawn evenly over the queries, as many from each as the probabilities add up to,
    and in each over what is alike (`Pool.similarity_key`); `extended`, that it was drawn in parts, from one pool after
    another. `rows` are those of the table that it was made from.
    """

    positions: IntArray
    labels: IntArray
    prob: FloatArray
    balanced: bool = False
    extended: bool = False
    rows: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.positions)


def resolve_design(gold: Judgments, stated: Design | None = None, *, has_frame: bool = False) -> Design:
    """How the gold labels were drawn: what was said, or what their column `design` or a sampling frame says.

    Examples:
        >>> gold = Judgments.of({"query": ["q"], "doc": ["d"], "label": [1], "design": ["pool_random"]})
        >>> resolve_design(gold)
        'pool_random'
    """
    undeclared = "design" not in gold.frame.columns or gold.frame["design"].null_count()
    if undeclared and stated is None and has_frame:
        return "pool_stratified"
    if stated is not None and undeclared:
        return _require_design(stated, None)
    if undeclared:
        frame = Suggestion("says it, if it was written with them", sampling_frame=...)
        choices = [Suggestion(f"stands for {words}", design=name) for name, words in DESIGNS.items() if name != "known"]
        raise InputError(
            "undeclared-design",
            "the gold labels have no column design that says how they were drawn, and without it nothing can be "
            "concluded from them",
            parameter="design",
            suggestions=[frame, *choices],
        )
    designs = gold.frame["design"].cast(pl.String).unique(maintain_order=True).to_list()
    if len(designs) > 1:
        raise InputError(
            "several-designs",
            f"the gold labels were drawn in several ways ({', '.join(designs[:3])}), and only one can be corrected "
            f"with at a time",
            suggestions=[Suggestion("keeps one of them", function="read_judgments", where={"design": designs[0]})],
        )
    declared = _require_design(designs[0], "design")
    if stated not in (None, declared):
        raise UsageError(
            "design-contradicted",
            f"the gold labels say in their column design that they are '{declared}', and not '{stated}'; what can be "
            f"concluded depends on it",
            parameter="design",
            suggestions=[Suggestion("goes by the column", design=None)],
        )
    return declared


def default_measures(
    gold: object, defaults: Iterable[str], stated: Design | None = None, *, has_frame: bool = False
) -> tuple[str, ...]:
    """The measures where none is named: gold labels of single documents serve only those that are sums.

    Examples:
        >>> gold = Judgments.of({"q": {"d": 1}})
        >>> [default_measures(gold, ["nDCG@10"], design) for design in ("whole_queries", "pool_random")]
        [('nDCG@10',), ('P@10', 'DCG@10')]
    """
    whole_queries = isinstance(gold, Judgments) and (
        resolve_design(gold, stated, has_frame=has_frame) == "whole_queries"
    )
    return tuple(defaults) if whole_queries else DOCUMENT_MEASURES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldLabels:
    """The gold labels that say something, one for each document, and the drawn documents that have none.

    `lost` has a row with a negative label for each of these, as far as it is known which they are; None where none was
    lost.
    """

    judged: Judgments
    lost: Judgments | None
    notes: tuple[Note, ...] = ()

    @property
    def complete(self) -> Judgments:
        """All of them, those without a label with a negative one."""
        if self.lost is None:
            return self.judged
        return Judgments(pl.concat([self.judged.frame, self.lost.frame], how="diagonal_relaxed"))


def split_gold(gold: Judgments, design: Design, frame: SamplingFrame | None = None) -> GoldLabels:
    """Apart, what gold judged and what was lost: a negative label says *not judged*, and a row may be missing.

    A draw holds only if all that was drawn is judged, for what is lost may be just the hard ones: a few are noted, and
    bounds say what they could change; more are refused. With the sampling frame it is known which rows are missing,
    without it only how many, if a column says how many were drawn.
    """
    gold.require_one_label_each()
    if frame is not None and design not in FRAME_DESIGNS:
        raise UsageError(
            "frame-without-use",
            f"a sampling frame goes with a sample of single documents, and these gold labels are of the design "
            f"'{design}'",
            parameter="sampling_frame",
            suggestions=[Suggestion(sampling_frame=None)],
        )
    complete = gold if frame is None else frame.complete(gold)
    judged, lost = (complete.frame.filter(part) for part in (pl.col("label") >= 0, pl.col("label") < 0))
    if not judged.height:
        raise InputError(
            "no-gold-labels",
            "no gold document has a label (empty and negative ones say 'not judged'): there is nothing to correct "
            "with. Fill in the column label",
        )
    drawn_count = complete.frame.height if design == "external" or frame is not None else _drawn_count(gold)
    notes = []
    if lost.height:
        subject = "1 gold label is" if lost.height == 1 else f"{lost.height:,} gold labels are"
        total = max(drawn_count, complete.frame.height)
        notes.append(Note("lost-labels", f"{subject} lost, of {total:,}: {_count_reasons(lost)}"))
    if drawn_count != complete.frame.height:
        present = "1 is" if complete.frame.height == 1 else f"{complete.frame.height:,} are"
        notes.append(
            Note(
                "drawn-count-differs",
                f"{drawn_count:,} documents were drawn, and {present} here: rows were lost or added",
            )
        )
    if design != "external" and abs(drawn_count - judged.height) > MAX_LOST_SHARE * drawn_count:
        raise InputError(
            "too-many-lost",
            f"{'; '.join(note.text for note in notes)}. A draw holds only if all of it is judged; give each document a "
            f"label, 0 where nothing about it can be relevant",
        )
    if drawn_count > complete.frame.height and design in FRAME_DESIGNS:
        notes.append(
            Note(
                "unbounded-loss",
                "no bounds cover rows that are missing: which they are, only the sampling frame says",
                parameter="sampling_frame",
            )
        )
    return GoldLabels(judged=Judgments(judged), lost=Judgments(lost) if lost.height else None, notes=tuple(notes))


def _count_reasons(lost: pl.DataFrame) -> str:
    """Why labels were lost, and how many for each reason."""
    stated = pl.col("reason").cast(pl.String) if "reason" in lost.columns else pl.lit(None, dtype=pl.String)
    reasons = lost.with_columns(reason=stated.fill_null(UNSTATED_REASON))["reason"]
    counts = reasons.value_counts(sort=True).sort("count", "reason", descending=[True, False])
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.head(MAX_REASONS).rows())


def _drawn_count(gold: Judgments) -> int:
    """How many documents were drawn, where the draw says it; as many as there are where it does not."""
    if DRAWN_COLUMN not in gold.frame.columns:
        return gold.frame.height
    stated_counts = gold.frame[DRAWN_COLUMN].cast(pl.String).unique(maintain_order=True).to_list()
    if len(stated_counts) > 1:
        raise InputError(
            "several-draws",
            f"the gold labels are of several draws (of {', '.join(map(str, stated_counts[:3]))} documents, by their "
            f"column drawn), and the probabilities of one do not hold for both",
            suggestions=[Suggestion("continues a draw", function="sample", already=...)],
        )
    try:
        return int(float(stated_counts[0]))
    except (TypeError, ValueError, OverflowError):
        raise TableError(
            "bad-drawn-count", f"column drawn: expected how many documents were drawn, found '{stated_counts[0]}'"
        ) from None


def comparison_measures(gold: Judgments) -> tuple[Measure, ...]:
    """The measures by which the gold labels were drawn to compare runs; none where they serve for single runs too.

    Examples:
        >>> compared = {"query": ["q"], "doc": ["d"], "label": [1], "drawn_for": ["differences of P@10"]}
        >>> [str(measure) for measure in comparison_measures(Judgments.of(compared))]
        ['P@10']
    """
    if DRAWN_FOR_COLUMN not in gold.frame.columns:
        return ()
    purposes = gold.frame[DRAWN_FOR_COLUMN].drop_nulls().cast(pl.String).unique(maintain_order=True).to_list()
    return tuple(
        parse_all(word.removeprefix(COMPARISON_PREFIX) for word in purposes if word.startswith(COMPARISON_PREFIX))
    )


def require_drawn_for(drawn_for: Sequence[Measure], measure: Measure, *, comparing: bool) -> None:
    """Refuse a sample that was `drawn_for` comparing runs for anything else: some documents had no chance in it."""
    if not drawn_for or (comparing and any(_covers_measure(purpose, measure) for purpose in drawn_for)):
        return
    purposes = ", ".join(map(str, drawn_for))
    if comparing:
        raise InputError(
            "drawn-for-other-measure",
            f"the gold labels were drawn to compare runs by {purposes}, and documents that differ only in {measure} "
            f"could not be drawn: compare by {purposes}",
            suggestions=[Suggestion("draws a new sample", function="sample", compare=True, measures=f"{measure}")],
        )
    raise InputError(
        "drawn-for-comparison",
        f"the gold labels were drawn to compare runs by {purposes}, and what the runs share could not be drawn: single "
        f"runs need a sample of their own",
        suggestions=[Suggestion("draws one", function="sample", measures=f"{measure}")],
    )


def _covers_measure(drawn_for: Measure, measure: Measure) -> bool:
    """Whether every document that counts when runs are compared by a measure had a chance in a draw for another.

    A draw for P@k or CG@k has what only one of two tops holds; one for a measure with discounts has also what stands at
    different ranks, down to its cutoff.
    """
    if drawn_for.name in UNDISCOUNTED:
        return measure.name in UNDISCOUNTED and measure.cutoff == drawn_for.cutoff
    return drawn_for.cutoff is None or (measure.cutoff is not None and measure.cutoff <= drawn_for.cutoff)


def build_gold_sample(gold: Judgments, design: Design, pool: Pool) -> tuple[GoldSample, tuple[Note, ...]]:
    """The gold labels of documents that the runs show, with their probabilities; a note counts the others."""
    notes: list[Note] = []
    draw = Suggestion("draws from what the runs show", function="sample")
    positions = pool.positions_of(gold.frame)
    inside = positions >= 0
    if not inside.any():
        raise MismatchError(
            "gold-outside-runs",
            f"no gold document is in any run's top {pool.depth}: {compare_ids(gold.frame, pool.docs, 'the runs')}; are "
            f"the ids of the same kind?",
            suggestions=[draw],
        )
    outside = int((~inside).sum())
    if outside:
        verb = "is" if outside == 1 else "are"
        query, doc = gold.frame.row(int(inside.argmin()))[:2]
        notes.append(
            Note(
                "gold-partly-outside-runs",
                f"{outside:,} of {len(inside):,} gold documents {verb} in no run's top {pool.depth}, as '{doc}' of "
                f"query '{query}': worth nothing here, and left out",
                suggestions=[draw],
            )
        )
    gold_rows = gold.frame.filter(pl.Series(inside))
    if gold_rows.height < MIN_GOLD_LABELS:
        raise InputError(
            "too-few-gold",
            f"expected at least {MIN_GOLD_LABELS} gold labels among the {len(pool):,} documents in the runs' top "
            f"{pool.depth}, found {gold_rows.height}",
            suggestions=[Suggestion("draws more", function="sample", already=...)],
        )
    return GoldSample(
        positions=positions[inside],
        labels=gold_rows["label"].to_numpy().astype(np.int64),
        prob=_inclusion_probabilities(gold_rows, design, len(pool)),
        balanced=not outside and _is_drawn_from(gold_rows, pool.signature),
        extended=not outside and _is_drawn_from(gold_rows, pool.signature + EXTENDED_SUFFIX),
        rows=np.flatnonzero(inside),
    ), tuple(notes)


def compare_ids(gold: pl.DataFrame, docs: pl.DataFrame, whose: str) -> str:
    """An example of the ids on either side, where no document is the same: a query, or a document of a query.

    Examples:
        >>> gold, docs = (pl.DataFrame({"query": [query], "doc": ["d1"]}) for query in ("topic1", "1"))
        >>> compare_ids(gold, docs, "the runs")
        "gold has query 'topic1', and the runs have '1'"
    """
    shared = gold.join(docs, on="query", how="semi", maintain_order="left")
    if not shared.height:
        return f"gold has query '{gold['query'][0]}', and {whose} have '{docs['query'][0]}'"
    query, doc = shared.row(0)[:2]
    other = docs.filter(pl.col("query") == query)["doc"][0]
    return f"gold has document '{doc}' of query '{query}', and {whose} have '{other}' there"


def _is_drawn_from(gold_rows: pl.DataFrame, signature: str) -> bool:
    """Whether `sample` drew it from this very pool: then so many from each query, and spread over what is alike here.

    Of a part of a draw it is chance how many come from a query, and by another judge's labels others are alike.
    """
    if DRAWN_FROM_COLUMN not in gold_rows.columns:
        return False
    return bool(gold_rows[DRAWN_FROM_COLUMN].cast(pl.String).eq_missing(pl.Series([signature])).all())


def other_pool_notes(gold: Judgments, pool: Pool) -> tuple[Note, ...]:
    """A word where a sample says that it was drawn from another pool, and nothing else says how that differs."""
    if DRAWN_FROM_COLUMN not in gold.frame.columns:
        return ()
    drawn_from = gold.frame[DRAWN_FROM_COLUMN].drop_nulls().cast(pl.String)
    if not len(drawn_from) or drawn_from.str.strip_suffix(EXTENDED_SUFFIX).eq(pool.signature).all():
        return ()
    note = Note(
        "drawn-from-other-pool",
        "the gold labels were drawn from other runs, another cutoff or by other bronze labels: whether all that these "
        "runs show could be drawn, only the sampling frame says that was written with them",
        parameter="sampling_frame",
    )
    return (note,)


def _inclusion_probabilities(gold_rows: pl.DataFrame, design: Design, pool_size: int) -> FloatArray:
    if "prob" in gold_rows.columns:
        if gold_rows["prob"].null_count():
            query, doc = gold_rows.filter(pl.col("prob").is_null()).row(0)[:2]
            raise TableError(
                "missing-probability",
                f"the gold label of document '{doc}' of query '{query}' has no probability in column prob; "
                f"every gold label needs how probable it was to be drawn, above 0 and up to 1",
            )
        prob = gold_rows["prob"].to_numpy().astype(np.float64)
        if prob.min() < MIN_PROBABILITY:
            query, doc = gold_rows.row(int(prob.argmin()))[:2]
            raise TableError(
                "tiny-probability",
                f"the gold label of document '{doc}' of query '{query}' has a probability of {prob.min():.3g} in "
                f"column prob; no document is drawn with less than {MIN_PROBABILITY:g}",
            )
        return prob
    if design == "pool_random":
        return np.full(gold_rows.height, gold_rows.height / pool_size)
    raise TableError(
        "no-probabilities",
        "a stratified sample needs the probability of each document to be drawn in a column prob, as it was written, "
        "or in the sampling frame beside it",
        parameter="design",
        suggestions=[Suggestion("takes each for as probable as any other", design="pool_random")],
    )


def _require_design(name: str, column: str | None) -> Design:
    """The design of this name, which somebody said or a column has."""
    designs: dict[str, Design] = {design: design for design in DESIGNS}
    if name in designs:
        return designs[name]
    text = f"no design '{name}'{did_you_mean(name, DESIGNS) or '; there is ' + ', '.join(DESIGNS)}"
    if column is None:
        raise UsageError("unknown-design", text, parameter="design")
    raise InputError("unknown-design", f"column {column}: {text}")
