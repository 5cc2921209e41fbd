"""Agreement as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ringtrue.cli.output import Grid, estimate_column
from ringtrue.formatting.phrases import counted
from ringtrue.stats.estimate_cells import intervals_told
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement, PairAgreement, Transitivity

__all__ = ["flat", "grids"]

SHOWN, SHOWN_WITH_GOLD = 10, 40  # pairs
STATISTICS = {
    "agreement": "raw agreement",
    "overlap": "overlap of the relevant",
    "fleiss_kappa": "Fleiss' kappa",
    "scott_pi": "Scott's pi",
    "conger": "Conger's kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
    "alpha_ratio": "Krippendorff's alpha, ratio",
    "ac1": "Gwet's AC1",
    "brennan_prediger": "Brennan–Prediger, Randolph",
    "self_consistency": "the same judge again",
    "cross_consistency": "another judge on those items",
}
CONSISTENCY = ("self_consistency", "cross_consistency")
ONLY_OF_LABELS = ("overlap", "alpha_interval", "alpha_ratio")


def grids(found: Agreement, parts: Mapping[str, Agreement], rel: int) -> list[Grid]:
    """Everything that a person may want to read, the answer last."""
    made = [_panels(parts)] if parts else []
    alone = len(found.judges) == 1 and bool(found.gold)
    if not alone:
        made.append(_overall(found, rel, "all panels" if parts else "all judges"))
    if found.gold and found.consensus is not None:
        with_gold = [found.consensus] * (not alone) + list(found.gold)
        made.append(_pairs(with_gold, "pairs with gold", "the closest first", most=SHOWN_WITH_GOLD))
    if found.pairs:
        made.append(_pairs(found.pairs, "pairs of panels" if parts else "pairs of judges", "most items first"))
    if found.drift:
        made.append(_drift(found))
    last = made[-1]
    closing = "\n".join(_verdict(found, "panels" if parts else "judges"))
    made[-1] = Grid(
        columns=last.columns, rows=last.rows, left=last.left, caption=f"{last.caption}\n\n{closing}".strip("\n")
    )
    return made


def _overall(found: Agreement, rel: int, who: str) -> Grid:
    of_pairs = found.transitivity is not None
    rows: list[list[str]] = []
    reasons: dict[str, list[str]] = {}
    for name, words in STATISTICS.items():
        one = found.overall[name]
        if (one.value is None and name in CONSISTENCY) or (of_pairs and name in ONLY_OF_LABELS):
            continue
        called = f"{words} (≥ {rel})" if name == "overlap" else words
        rows.append([called, *_cells(one)])
        if one.value is None:
            reasons.setdefault(one.notes[0], []).append(called)
    level = found.overall["agreement"].level
    method = found.overall["agreement"].method
    drawn = method.replace("bootstrap", "intervals") if "over" in method else "no intervals asked"
    what = "pair" if of_pairs else "item"
    whose = counted(len(found.judges), who.removeprefix("all ").removesuffix("s"))
    size = f"{whose}, {counted(found.votes, 'label')} of {counted(found.items, what)}"
    if found.queries > 1:
        size += f" in {found.queries:,} queries"
    few = ", ".join(map(str, found.labels))
    scale = (
        "" if of_pairs else f"; labels {few if len(found.labels) <= 10 else f'{found.labels[0]} to {found.labels[-1]}'}"
    )
    return Grid(
        columns=[who, "value", f"{level * 100:g}% interval"],
        rows=rows,
        caption="\n".join([f"{size}{scale}; {drawn}", *(_undefined(*one) for one in reasons.items())]),
        left=1,
    )


def _undefined(reason: str, names: Sequence[str]) -> str:
    return f"{names[0] if len(names) == 1 else 'undefined'}: {reason}"


def _cells(one: Estimate) -> list[str]:
    if one.value is None:
        return ["undefined", "–"]
    digits = one.decimals + 1 if one.se else 3
    value = f"{one.value:.{digits}f}".replace("-", "−")
    if one.low is None or one.high is None:
        return [value, "–"]
    return [value, f"{one.low:.{digits}f} to {one.high:.{digits}f}".replace("-", "−")]


def _pairs(pairs: Sequence[PairAgreement], what: str, order: str, *, most: int = SHOWN) -> Grid:
    shown = pairs[:most]
    rows = [
        [
            pair.a,
            pair.b,
            f"{pair.n:,}",
            _number(pair.agreement.value),
            _with_ends(pair.kappa),
            _number(pair.kappa_quadratic.value),
            _with_ends(pair.alpha_ordinal),
        ]
        for pair in shown
    ]
    more = len(pairs) - len(shown)
    return Grid(
        columns=[what, "", "items", "agree", "kappa", "quadratic", "alpha"],
        rows=rows,
        caption="kappa: Cohen's; quadratic: its weighted kind; alpha: Krippendorff's, ordinal; their intervals"
        f"{f'; {order}' * (len(pairs) > 1)}{f'; {more:,} more pairs in --json and --format csv' * bool(more)}",
        left=2,
    )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")  # no −0.00


def _with_ends(one: Estimate) -> str:
    if one.low is None or one.high is None:
        return _number(one.value)
    return f"{_number(one.value)} ({_number(one.low)} to {_number(one.high)})"


def _panels(parts: Mapping[str, Agreement]) -> Grid:
    names = ["agreement", "alpha_nominal", "alpha_ordinal"]
    columns = [estimate_column([part.overall[name] for part in parts.values()]) for name in names]
    gold = any(part.consensus is not None for part in parts.values())
    if gold:
        nothing = Estimate(value=None, n=0, method="none", notes=("no gold label",))
        with_gold = [nothing if part.consensus is None else part.consensus.kappa for part in parts.values()]
        columns.append(estimate_column(with_gold))
    rows = [
        [name, f"{len(part.judges):,}", f"{part.votes:,}", *cells]
        for (name, part), cells in zip(parts.items(), zip(*columns, strict=True), strict=True)
    ]
    return Grid(
        columns=["panel", "judges", "labels", "agree", "nominal", "ordinal", *(["gold"] * gold)],
        rows=rows,
        caption="within each panel: raw agreement, alpha nominal and ordinal"
        + "; gold: kappa of its majority with gold" * gold
        + intervals_told(columns),
    )


def _drift(found: Agreement) -> Grid:
    columns = [estimate_column([getattr(one, name) for one in found.drift]) for name in ("agreement", "leniency")]
    rows = [
        [one.first, one.last, f"{one.labels:,}", *cells]
        for one, cells in zip(found.drift, zip(*columns, strict=True), strict=True)
    ]
    return Grid(
        columns=["from", "to", "labels", "agree", "higher"],
        rows=rows,
        caption="over time: how often a label is another judge's, and how much higher it is than the others'"
        + intervals_told(columns),
        left=2,
    )


def _verdict(found: Agreement, whose: str) -> list[str]:
    lines = []
    from ringtrue.judges.agreement.alpha_thresholds import verdict_on

    alpha, raw = found.overall["alpha_ordinal"], found.overall["agreement"]
    if found.transitivity is not None:
        alpha = found.overall["alpha_nominal"]
    if raw.value is not None and alpha.value is not None:
        which = "nominal" if found.transitivity is not None else "ordinal"
        ends = (
            ""
            if alpha.low is None or alpha.high is None
            else f" ({alpha.low:.2f} to {alpha.high:.2f})".replace("-", "−")
        )
        lines.append(
            f"Two labels of an item are equal in {100 * raw.value:.0f}% of cases; {which} alpha is "
            f"{alpha.value:.2f}{ends}: {verdict_on(alpha)}".replace("-", "−")
        )
    elif raw.value is not None:
        lines.append(f"Two labels of an item are equal in {100 * raw.value:.0f}% of cases; {alpha.notes[0]}.")
    again, cross = found.overall["self_consistency"], found.overall["cross_consistency"]
    if again.value is not None:
        other = "" if cross.value is None else f"; another judge gives it in {100 * cross.value:.0f}%"
        lines.append(
            f"A judge who labels an item again gives the same label in {100 * again.value:.0f}% of cases{other}."
        )
    if found.consensus is not None and found.consensus.kappa.value is not None and len(found.judges) > 1:
        pair = found.consensus
        lines.append(
            f"The {whose}' majority gives the gold label to {100 * (pair.agreement.value or 0):.0f}% of "
            f"{pair.n:,} items (kappa {_number(pair.kappa.value)})."
        )
    lines += _closest(found, whose.removesuffix("s"))
    if found.transitivity is not None:
        lines += _circles(found.transitivity)
    return lines


def _closest(found: Agreement, one: str) -> list[str]:
    """Who agrees best with gold, and who worst."""
    known = [pair for pair in found.gold if pair.kappa.value is not None]
    if not known:
        return []
    first, last = known[0], known[-1]
    share = f"gives the gold label to {100 * (first.agreement.value or 0):.0f}% of {first.n:,} items"
    if len(known) == 1:
        return [f"'{first.b}' {share}, kappa {_with_ends(first.kappa)}."]
    says = f"The {one} closest to gold is {first.b}, who {share}, kappa {_with_ends(first.kappa)}"
    return [f"{says}; the last is {last.b}, kappa {_with_ends(last.kappa)}."]


def _circles(found: Transitivity) -> list[str]:
    lines = []
    if found.majority.value is not None:
        lines.append(
            f"Of {counted(found.majority.n, 'triple')} of documents, the majority's preferences run in a circle in "
            f"{100 * (1 - found.majority.value):.1f}% (coin flips: 25%)."
        )
    if found.cycle is not None:
        query, *docs = found.cycle
        lines.append(f"Such as in query {query}: {docs[0]} beats {docs[1]} beats {docs[2]} beats {docs[0]}.")
    return lines


def flat(found: Agreement, parts: Mapping[str, Agreement]) -> Grid:
    """Every statistic of all judges, of every panel and of every pair, a row each, with every digit."""
    rows = [
        [who, "", name, *_digits(one)]
        for who, part in {"": found, **parts}.items()
        for name, one in part.overall.items()
    ]
    for pair in (*([found.consensus] if found.consensus else ()), *found.gold, *found.pairs):
        for name, value in pair.as_dict().items():
            if isinstance(value, dict):
                rows.append([pair.a, pair.b, name, *_digits(getattr(pair, name))])
    return Grid(columns=["a", "b", "statistic", "value", "se", "low", "high", "n"], rows=rows)


def _digits(one: Estimate) -> list[str]:
    return ["" if number is None else str(number) for number in (one.value, one.se, one.low, one.high, one.n)]
