"""What a study is asked and what it shows; `commands/simulate.py` lists the studies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, TypeAlias

from ringtrue.formatting.grid import Grid
from ringtrue.messages import Note

if TYPE_CHECKING:
    import numpy as np

Number: TypeAlias = int | float
WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyParameters:
    """What was asked of a study, its own settings filled in."""

    seed: int
    replications: int
    level: float
    folders: tuple[str, ...]
    settings: Mapping[str, Number]

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers from the seed."""
        import numpy as np

        return np.random.default_rng(self.seed)

    def int_setting(self, name: str) -> int:
        """A setting that counts something."""
        return int(self.settings[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOutput:
    """What a study shows: `payload` as JSON, `grids` as tables, `csv_grid` as CSV, `plot` below the tables."""

    payload: Mapping[str, object]
    grids: Callable[[], Grid | Sequence[Grid]]
    csv_grid: Callable[[], Grid] | None = None
    plot: str = ""
    notes: Sequence[Note] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study: a sentence, the function, which of the common options it takes, and numbers of its own with defaults."""

    summary: str
    run: Callable[[StudyParameters], StudyOutput]
    options: tuple[str, ...] = ("replications", "level")
    replications: int = 10_000
    settings: Mapping[str, Number] = field(default_factory=dict)


def wrap_lines(lines: Iterable[str]) -> str:
    """Lines of a caption, the long ones broken."""
    return "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines)
