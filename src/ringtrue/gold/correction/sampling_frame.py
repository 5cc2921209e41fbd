"""The sampling frame: all documents that could be drawn, how probable each was, and which were drawn.

A sample stands for its frame and for nothing else. With the frame at hand it is known what of a run was never within
reach, and which labels were lost on the way, whatever became of the columns of the sample itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import polars as pl

from ringtrue.errors import InputError, TableError
from ringtrue.gold.correction.pool import Pool
from ringtrue.tables import Judgments
from ringtrue.tables.columns import make_frame, parse_ids, parse_numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLUMNS = ("query", "doc", "prob", "drawn")
SIGNATURE_COLUMN, COUNT_COLUMN = "drawn_from", "drawn"  # of a sample, and the first of its frame too
ROUNDING = 1e-6  # of a probability that went through a file
DRAWN_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SamplingFrame:
    """`docs` has the columns query, doc, prob and drawn (true or false), a row for each document.

    `drawn_from` is the signature of what they were, as in the sample.

    Examples:
        >>> frame = SamplingFrame.of({"query": ["q", "q"], "doc": ["a", "b"], "prob": [0.5, 0.5], "drawn": [1, 0]})
        >>> frame.docs.rows()
        [('q', 'a', 0.5, True), ('q', 'b', 0.5, False)]
    """

    docs: pl.DataFrame
    drawn_from: str | None = None

    @classmethod
    def of(cls, data: object) -> Self:
        """The frame from a table with these four columns, as `sample` makes it."""
        if isinstance(data, cls):
            return data
        table = make_frame(data, nested="prob", reader="pl.read_csv")
        if missing := [name for name in COLUMNS if name not in table.columns]:
            raise TableError(
                "no-sampling-frame",
                f"a sampling frame is a CSV file with the columns {', '.join(COLUMNS)}, the second file that a draw "
                f"writes; found {', '.join(table.columns) or 'nothing'}, without {', '.join(missing)}",
            )
        drawn = table["drawn"].cast(pl.String).str.to_lowercase()
        if not (known := drawn.is_in(list(DRAWN_WORDS)).fill_null(value=False)).all():
            word = table["drawn"].filter(~known)[0]
            raise TableError(
                "bad-drawn-mark",
                f"column drawn of a sampling frame: expected true or false, found '{word}'; is it the sample itself? "
                f"The frame is the second file that a draw writes",
            )
        docs = pl.DataFrame(
            [
                parse_ids(table, "query"),
                parse_ids(table, "doc"),
                parse_numbers(table, "prob"),
                drawn.replace_strict(DRAWN_WORDS, return_dtype=pl.Boolean),
            ]
        )
        if ((docs["prob"] <= 0) | (docs["prob"] > 1)).any():
            raise TableError(
                "bad-frame-probability", "column prob of a sampling frame: expected probabilities above 0 and up to 1"
            )
        if docs.select("query", "doc").is_duplicated().any():
            query, doc = docs.filter(docs.select("query", "doc").is_duplicated()).row(0)[:2]
            raise TableError(
                "repeated-frame-row",
                f"document '{doc}' of query '{query}' stands twice in the sampling frame; keep one row",
            )
        signatures = (
            table[SIGNATURE_COLUMN].drop_nulls().unique().to_list() if SIGNATURE_COLUMN in table.columns else []
        )
        return cls(docs=docs, drawn_from=str(signatures[0]) if len(signatures) == 1 else None)

    def holds(self, pool: Pool) -> NDArray[np.bool_]:
        """Which documents of a pool could have been drawn."""
        marked = pool.docs.join(
            self.docs.select("query", "doc", known=pl.lit(value=True)),
            on=["query", "doc"],
            how="left",
            maintain_order="left",
        )
        return marked["known"].fill_null(value=False).to_numpy()

    def complete(self, gold: Judgments) -> Judgments:
        """The gold labels with the frame's probabilities, and a row with the label −1 for each that got lost.

        Refused where the labels are not of this frame's sample: of documents that were not drawn, or with other
        probabilities.
        """
        joined = gold.frame.join(
            self.docs.select("query", "doc", "drawn", frame_prob="prob"),
            on=["query", "doc"],
            how="left",
            maintain_order="left",
            suffix="_in_frame",
        )
        drawn = joined["drawn_in_frame" if "drawn" in gold.frame.columns else "drawn"].fill_null(value=False)
        if not drawn.any():
            (query, doc), (frame_query, frame_doc) = gold.frame.row(0)[:2], self.docs.row(0)[:2]
            raise InputError(
                "frame-of-other-sample",
                f"the sampling frame and the gold labels have no drawn document in common: gold has '{doc}' of query "
                f"'{query}', the frame '{frame_doc}' of query '{frame_query}'. Are the ids of the same kind? If so, "
                f"the frame is of another sample: give the one that was written with these documents",
                parameter="sampling_frame",
            )
        if not drawn.all():
            query, doc = joined.filter(~drawn).row(0)[:2]
            raise InputError(
                "gold-not-drawn",
                f"gold has document '{doc}' of query '{query}', which was not drawn, as {int((~drawn).sum()):,} of "
                f"{len(drawn):,}: the sampling frame is of another sample or of an earlier batch, or rows were added. "
                f"Give the frame that was written with these documents, or leave them out",
                parameter="sampling_frame",
            )
        self._require_same_batch(gold)
        if "prob" in gold.frame.columns:
            off = (joined["prob"] - joined["frame_prob"]).abs() > ROUNDING
            if off.any():
                row = joined.filter(off).row(0, named=True)
                raise InputError(
                    "probabilities-differ",
                    f"document '{row['doc']}' of query '{row['query']}' has the probability {row['prob']:g}, and "
                    f"{row['frame_prob']:g} in the sampling frame: one of them was changed, or is of another batch",
                    parameter="sampling_frame",
                )
        columns = [column for column in gold.frame.columns if column != "prob"]
        complete = joined.select(*columns, prob="frame_prob")
        absent = self.docs.filter("drawn").join(gold.frame, on=["query", "doc"], how="anti", maintain_order="left")
        if absent.height:
            rows = absent.select(
                "query", "doc", "prob", judge=pl.lit("0"), label=pl.lit(-1, dtype=pl.Int32), reason=pl.lit("missing")
            )
            complete = pl.concat([complete, rows], how="diagonal_relaxed")
        if self.drawn_from is not None:
            complete = complete.with_columns(pl.lit(self.drawn_from).alias(SIGNATURE_COLUMN))
        return Judgments(complete)

    def _require_same_batch(self, gold: Judgments) -> None:
        """Refuse labels that are all of an earlier batch, by their own count, where the frame is of a later one."""
        drawn = int(self.docs["drawn"].sum())
        if COUNT_COLUMN not in gold.frame.columns:
            return
        stated = gold.frame[COUNT_COLUMN].cast(pl.String).unique().to_list()
        if stated == [str(gold.frame.height)] and gold.frame.height < drawn:
            raise InputError(
                "frame-of-later-batch",
                f"the sampling frame has {drawn:,} drawn documents, and the gold labels are all of a draw of "
                f"{gold.frame.height:,}: it is of a later batch. Give the gold labels of that one, or their own frame",
                parameter="sampling_frame",
            )
