"""The table of the README: what each job took, and how many times as long others took in the same run.

    python -m benchmarks --write README.md

It is put between `<!-- measured: speed -->` and `<!-- /measured -->`; nothing else in the page changes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PLACE = re.compile(r"(<!-- measured: speed -->\n).*?(<!-- /measured -->)", re.S)


@dataclass(slots=True)
class Summary:
    """Rows of the table, gathered as jobs are measured."""

    where: str
    rows: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, job: str, seconds: Mapping[str, float], *, leaving: Collection[str] = ()) -> None:
        """A job by what it cost whom; those named in `leaving` are no peers."""
        own = seconds["ringtrue"]
        others = [
            f"{name} {took / own:.0f} ×" if took >= 10 * own else f"{name} {took / own:.1f} ×"
            for name, took in seconds.items()
            if not name.startswith("ringtrue") and name not in leaving
        ]
        self.rows.append((job, f"{own:.2f} s" if own >= 0.1 else f"{own:.3f} s", ", ".join(others) or "–"))

    def table(self) -> str:
        """As Markdown."""
        lines = ["| job | ringtrue | others, times as long |", "|---|---:|---|"]
        lines += [f"| {job} | {own} | {others} |" for job, own, others in self.rows]
        return "\n".join(
            [*lines, "", f"CPU seconds on {self.where}; whole jobs, or the work alone where no file is read."]
        )

    def write(self, page: Path) -> None:
        """Put the table into a page."""
        text, found = PLACE.subn(lambda place: f"{place[1]}\n{self.table()}\n\n{place[2]}", page.read_text())
        if found != 1:
            raise ValueError(f"{page}: expected one place for the table, found {found}")
        page.write_text(text)
