"""Do all packages find the same numbers?

Those that follow trec_eval break ties by doc id and agree with ringtrue to the last digits. trec_eval itself
prints four decimals. ranx puts documents of equal score in another order, so it differs where there are ties.
"""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.data import Files
from benchmarks.peers import MEASURES, Values, values

REMARKS = {"trec_eval": "prints four decimals", "ranx": "breaks ties in another way"}


def agreement(files: Files, names: Iterable[str]) -> str:
    """The largest difference from ringtrue over all queries, for every package and measure."""
    ours = values("ringtrue", files.run, files.qrels)
    lines = [f"{'largest difference':<20}" + "".join(f"{name:>10}" for name in MEASURES)]
    for name in names:
        if name != "ringtrue":
            gaps = _gaps(ours, values(name, files.run, files.qrels))
            cells = "".join(f"{gaps[measure]:>10.1e}" for measure in MEASURES)
            lines.append(f"{name:<20}{cells}  {REMARKS.get(name, '')}".rstrip())
    return "\n".join(lines)


def _gaps(ours: Values, theirs: Values) -> dict[str, float]:
    if ours.keys() != theirs.keys():
        raise ValueError(f"expected values for {len(ours)} queries, found {len(theirs)} or others")
    return {name: max(abs(ours[query][name] - theirs[query][name]) for query in ours) for name in MEASURES}
