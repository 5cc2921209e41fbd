"""What `ringtrue rate` writes: the ratings, the chances of every pair, and labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ringtrue.cli.options.files import is_same_file
from ringtrue.errors import InputError, UsageError
from ringtrue.formatting.phrases import format_count

if TYPE_CHECKING:
    from ringtrue.cli.options.rating_inputs import RatingFiles
    from ringtrue.preference import Ratings
    from ringtrue.tables import Judgments

TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
RUN_SUFFIXES, QRELS_SUFFIXES = (".run",), (".qrels", ".qrel")
COMPRESSED_SUFFIXES = (".gz", ".zst")
MAX_CHANCES = 20_000_000  # pairs, about two gigabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingTargets:
    """Where to write the ratings, the chances of every pair, and labels with where to cut them."""

    output: str | None
    chances: str | None
    qrels: str | None
    threshold: str | None
    quantile: str | None
    gaps: int | None

    @property
    def path_by_option(self) -> dict[str, str]:
        """The files that were asked for, by option."""
        named = {"-o": self.output, "--chances": self.chances, "--qrels": self.qrels}
        return {option: path for option, path in named.items() if path is not None}

    def require_writable(self, files: RatingFiles, method: str) -> None:
        """Refuse what cannot be written, before all the work is done."""
        endings = {
            "-o": (*TABLE_SUFFIXES, *RUN_SUFFIXES),
            "--chances": TABLE_SUFFIXES,
            "--qrels": (*QRELS_SUFFIXES, *TABLE_SUFFIXES),
        }
        for option, path in self.path_by_option.items():
            if path == "-":
                raise UsageError(f"{option} - is no file; --format csv prints the ratings")
            if _format_suffix(path) not in endings[option]:
                raise UsageError(
                    f"{option} {path}: no format goes by this name; end it with {', '.join(endings[option])}, and "
                    f".gz or .zst to pack it"
                )
            for source in (*files.preferences, files.gold):
                if source is not None and is_same_file(source, path):
                    raise UsageError(
                        f"{path}: the answer cannot be written onto what it is made from; write to another file"
                    )
        paths = list(self.path_by_option.values())
        if len({Path(path).resolve() for path in paths}) < len(paths):
            raise UsageError("two answers cannot be written into one file; name another")
        if self.chances is not None and method == "win-rate":
            raise UsageError("--chances: a win rate says nothing about the chance of a win; rate by another method")
        self._require_cut()

    def _require_cut(self) -> None:
        cuts = {"--threshold": self.threshold, "--quantile": self.quantile, "--gaps": self.gaps}
        given_options = [option for option, setting in cuts.items() if setting is not None]
        if self.qrels is None and given_options:
            raise UsageError(
                f"{given_options[0]} says how ratings become labels; say where to write them: --qrels FILE"
            )
        if self.qrels is not None and len(given_options) != 1:
            given_text = "none" if not given_options else " and ".join(given_options)
            raise UsageError(
                f"--qrels: how should ratings become labels? By one of {', '.join(cuts)}; found {given_text}"
            )
        self._require_numbers()

    def _require_numbers(self) -> None:
        if self.threshold is None and self.quantile is None:
            return
        from ringtrue.preference.results import require_increasing, require_quantiles

        if (thresholds := _parse_numbers("--threshold", self.threshold)) is not None:
            require_increasing("thresholds", thresholds)
        if (quantiles := _parse_numbers("--quantile", self.quantile)) is not None:
            require_quantiles(quantiles)

    def write(self, ratings: Ratings, note: Callable[[str], None]) -> None:
        """Write what was asked for."""
        from ringtrue.files import write_table

        # refused before the first file is written
        labels = None if self.qrels is None else self._cut_into_labels(ratings)
        if self.output is not None:
            write_table(
                ratings.run() if _format_suffix(self.output) in RUN_SUFFIXES else ratings.frame, self.output, note=note
            )
        if self.chances is not None:
            pairs = _count_pairs(ratings)
            chances = ratings.chances()
            write_table(chances, self.chances, note=note)
            if unconnected := pairs - chances.height:
                note(
                    f"{self.chances}: {unconnected:,} of {format_count(pairs, 'pair')} left out: no chain "
                    "of votes joins the two"
                )
        if self.qrels is not None and labels is not None:
            write_table(labels, self.qrels, note=note)
            self._note_few_labels(labels, note)

    def _note_few_labels(self, labels: Judgments, note: Callable[[str], None]) -> None:
        if self.gaps is None:
            return
        distinct_labels = labels.frame.group_by("query").n_unique()["label"]
        if n_short := int((distinct_labels < self.gaps).sum()):
            note(
                f"{self.qrels}: fewer than {self.gaps} labels in {n_short:,} of "
                f"{format_count(len(distinct_labels), 'query')}, where "
                f"fewer ratings differ"
            )

    def _cut_into_labels(self, ratings: Ratings) -> Judgments:
        return ratings.labels(
            thresholds=_parse_numbers("--threshold", self.threshold),
            quantiles=_parse_numbers("--quantile", self.quantile),
            gaps=self.gaps,
        )


def _format_suffix(path: str) -> str:
    """What the name of a file ends with, apart from how it is packed."""
    file_path = Path(path)
    return (file_path.with_suffix("") if file_path.suffix in COMPRESSED_SUFFIXES else file_path).suffix.lower()


def _parse_numbers(option: str, text: str | None) -> list[float] | None:
    """`0,1.5` as numbers."""
    if text is None:
        return None
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise UsageError(f"{option} expects numbers with commas between them, such as 0,1.5; found '{text}'")
    return numbers


def _count_pairs(ratings: Ratings) -> int:
    """How many pairs of documents there are; too many for a table are refused."""
    sizes = ratings.frame["query"].value_counts()["count"].to_numpy()
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs > MAX_CHANCES:
        raise InputError(
            f"--chances: {pairs:,} pairs are too many for a table, {MAX_CHANCES:,} the most; take one "
            f"query at a time with --where query=…"
        )
    return pairs
