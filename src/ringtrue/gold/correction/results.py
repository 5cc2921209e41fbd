"""The answer to: what would the measure be with a perfect judge?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ringtrue.gold.correction.diagnostics import Check
from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.gold.designs import Design
from ringtrue.stats.estimate_cells import collect_footnotes
from ringtrue.stats.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What `correct` gives: each run and measure as bronze has it, corrected, and from gold alone where that is known.

    `methods` says how each measure was corrected and why so; `judge` has the bronze judge's rates and confusion
    matrix; `checks` what speaks for or against the gold labels.

    Examples:
        >>> import ringtrue as rt
        >>> run = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(30)}
        >>> bronze = {f"q{i}": {"a": 1, "b": i % 2} for i in range(30)}
        >>> gold = {f"q{i}": {"a": int(i > 3), "b": 0} for i in range(0, 30, 3)}
        >>> correction = rt.correct(run, bronze, gold, "P@2", design="pool_random", population="these")
        >>> print(correction.raw["run"]["P@2"].value, "→", correction.corrected["run"]["P@2"])
        0.75 → 0.41 (95% CI 0.25 to 0.58)
    """

    raw: Mapping[str, Mapping[str, Estimate]]
    corrected: Mapping[str, Mapping[str, Estimate]]
    gold_only: Mapping[str, Mapping[str, Estimate]]
    methods: Mapping[str, str]
    design: Design
    population: Population
    judge: Mapping[str, object]
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{run} {name}: {estimate} (bronze says {_format_bronze(self.raw[run][name])})"
            for run, row in self.corrected.items()
            for name, estimate in row.items()
        ]
        return "\n".join([*lines, *self.methods.values(), *(check.text for check in self.checks if not check.passed)])

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        return {
            "runs": _estimates_as_dicts(self.raw),
            "corrected": _estimates_as_dicts(self.corrected),
            "gold_only": _estimates_as_dicts(self.gold_only),
            "methods": dict(self.methods),
            "design": self.design,
            "population": self.population,
            "judge": dict(self.judge),
            "checks": [check.as_dict() for check in self.checks],
            "notes": list(self.notes),
        }


SHARED_CAVEAT = "holds where the judge errs on these documents"  # the note about the whole says it once


def correction_footnotes(correction: Correction) -> list[str]:
    """The notes of all corrected values; a doubt that differs only by its numbers is told once."""
    return collect_footnotes(correction.corrected, skip_prefix=SHARED_CAVEAT)


def _estimates_as_dicts(table: Mapping[str, Mapping[str, Estimate]]) -> dict[str, dict[str, dict[str, object]]]:
    return {run: {name: estimate.as_dict() for name, estimate in row.items()} for run, row in table.items()}


def _format_bronze(estimate: Estimate) -> str:
    return "nothing" if estimate.value is None else f"{estimate.value:.3f}"
