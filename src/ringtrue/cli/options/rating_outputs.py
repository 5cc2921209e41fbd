"""What `ringtrue rate` writes: the ratings, the chances of every pair, and labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ringtrue.cli.options.files import same_file
from ringtrue.errors import InputError, UsageError
from ringtrue.formatting.phrases import counted

if TYPE_CHECKING:
    from ringtrue.cli.options.rating_inputs import Files
    from ringtrue.preference import Ratings
    from ringtrue.tables import Judgments

__all__ = ["Targets"]

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
RUN, QRELS = (".run",), (".qrels", ".qrel")
PACKED = (".gz", ".zst")
MOST_CHANCES = 20_000_000  # pairs, about two gigabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Where to write the ratings, the chances of every pair, and labels with where to cut them."""

    output: str | None
    chances: str | None
    qrels: str | None
    threshold: str | None
    quantile: str | None
    gaps: int | None

    @property
    def files(self) -> dict[str, str]:
        """The files that were asked for, by option."""
        named = {"-o": self.output, "--chances": self.chances, "--qrels": self.qrels}
        return {option: path for option, path in named.items() if path is not None}

    def require(self, files: Files, method: str) -> None:
        """Refuse what cannot be written, before all the work is done."""
        endings = {"-o": (*TABLES, *RUN), "--chances": TABLES, "--qrels": (*QRELS, *TABLES)}
        for option, path in self.files.items():
            if path == "-":
                raise UsageError(f"{option} - is no file; --format csv prints the ratings")
            if _ending(path) not in endings[option]:
                raise UsageError(
                    f"{option} {path}: no format goes by this name; end it with {', '.join(endings[option])}, and "
                    f".gz or .zst to pack it"
                )
            for source in (*files.preferences, files.gold):
                if source is not None and same_file(source, path):
                    raise UsageError(f"{path}: the answer cannot be written onto what it is made from; write to "
                                     f"another file")  # fmt: skip
        paths = list(self.files.values())
        if len({Path(path).resolve() for path in paths}) < len(paths):
            raise UsageError("two answers cannot be written into one file; name another")
        if self.chances is not None and method == "win-rate":
            raise UsageError("--chances: a win rate says nothing about the chance of a win; rate by another method")
        self._require_cut()

    def _require_cut(self) -> None:
        cuts = {"--threshold": self.threshold, "--quantile": self.quantile, "--gaps": self.gaps}
        said = [option for option, value in cuts.items() if value is not None]
        if self.qrels is None and said:
            raise UsageError(f"{said[0]} says how ratings become labels; say where to write them: --qrels FILE")
        if self.qrels is not None and len(said) != 1:
            found = "none" if not said else " and ".join(said)
            raise UsageError(f"--qrels: how should ratings become labels? By one of {', '.join(cuts)}; found {found}")
        self._require_numbers()

    def _require_numbers(self) -> None:
        if self.threshold is None and self.quantile is None:
            return
        from ringtrue.preference.label_cutoffs import require_quantiles, require_rising

        if (thresholds := _numbers("--threshold", self.threshold)) is not None:
            require_rising("thresholds", thresholds)
        if (quantiles := _numbers("--quantile", self.quantile)) is not None:
            require_quantiles(quantiles)

    def write(self, found: Ratings, note: Callable[[str], None]) -> None:
        """Write what was asked for."""
        from ringtrue.files import write_table

        labels = None if self.qrels is None else self._labels(found)  # refused before the first file is written
        if self.output is not None:
            write_table(found.run() if _ending(self.output) in RUN else found.frame, self.output, note=note)
        if self.chances is not None:
            pairs = _count_pairs(found)
            chances = found.chances()
            write_table(chances, self.chances, note=note)
            if apart := pairs - chances.height:
                note(f"{self.chances}: {apart:,} of {counted(pairs, 'pair')} left out: no chain of votes joins the two")
        if self.qrels is not None and labels is not None:
            write_table(labels, self.qrels, note=note)
            self._note_few_labels(labels, note)

    def _note_few_labels(self, labels: Judgments, note: Callable[[str], None]) -> None:
        if self.gaps is None:
            return
        different = labels.frame.group_by("query").n_unique()["label"]
        if few := int((different < self.gaps).sum()):
            note(
                f"{self.qrels}: fewer than {self.gaps} labels in {few:,} of {counted(len(different), 'query')}, where "
                f"fewer ratings differ"
            )

    def _labels(self, found: Ratings) -> Judgments:
        return found.labels(
            thresholds=_numbers("--threshold", self.threshold),
            quantiles=_numbers("--quantile", self.quantile),
            gaps=self.gaps,
        )


def _ending(path: str) -> str:
    """What the name of a file ends with, apart from how it is packed."""
    whole = Path(path)
    return (whole.with_suffix("") if whole.suffix in PACKED else whole).suffix.lower()


def _numbers(option: str, said: str | None) -> list[float] | None:
    """`0,1.5` as numbers."""
    if said is None:
        return None
    try:
        numbers = [float(word) for word in said.split(",")]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise UsageError(f"{option} expects numbers with commas between them, such as 0,1.5; found '{said}'")
    return numbers


def _count_pairs(found: Ratings) -> int:
    """How many pairs of documents there are; too many for a table are refused."""
    sizes = found.frame["query"].value_counts()["count"].to_numpy()
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs > MOST_CHANCES:
        raise InputError(
            f"--chances: {pairs:,} pairs are too many for a table, {MOST_CHANCES:,} the most; take one "
            f"query at a time with --where query=…"
        )
    return pairs
