"""What data there are to measure on, and where they lie; `generate` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Order: TypeAlias = Literal["score", "shuffled", "mixed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """What to make: so many queries with so many documents each, in one run or in several of different quality.

    `long_ids` gives doc ids of 25 characters and more instead of 8. `order` says how the lines of the run stand: by
    score; `shuffled` within each query; or `mixed`, the lines of all queries thrown together.
    """

    queries: int
    depth: int = 1_000
    runs: int = 1
    long_ids: bool = False
    order: Order = "score"
    seed: int = 0

    @property
    def name(self) -> str:
        """What its folder is called."""
        words = [f"{self.queries}x{self.depth}"]
        words += [f"{self.runs}runs"] if self.runs > 1 else []
        words += ["long"] if self.long_ids else []
        words += [self.order] if self.order != "score" else []
        return "-".join(words)


@dataclass(frozen=True, slots=True)
class Files:
    """Where the data of a collection are."""

    folder: Path

    @property
    def run(self) -> Path:
        """The run, where there is only one."""
        return self.folder / "run.trec"

    @property
    def runs(self) -> list[Path]:
        """The runs, where there are several."""
        return sorted(self.folder.glob("run-*.trec"))

    def numbered(self, run: int) -> Path:
        """One of several runs; from 1, the worst."""
        return self.folder / f"run-{run:02}.trec"

    @property
    def qrels(self) -> Path:
        """The judgments."""
        return self.folder / "qrels.trec"

    @property
    def stamp(self) -> Path:
        """What was made; written last."""
        return self.folder / "stamp.json"
