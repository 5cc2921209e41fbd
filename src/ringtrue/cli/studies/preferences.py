"""The study of preferences, for `ringtrue simulate`: methods, designs, and intervals of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

from ringtrue.cli.output import Grid, progress_bar
from ringtrue.cli.studies.study import Asked, Number, Shown
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.preference.choose_pairs import PairDesign
    from ringtrue.simulation.studies.rating_coverage import HeldRatings
    from ringtrue.simulation.studies.rating_designs import RatedDesign
    from ringtrue.simulation.worlds.compared_topics import PreferenceWorld
    from ringtrue.stats.results import Estimate

__all__ = ["PREFERENCES", "preferences"]

WORLD = ("topics", "docs", "workers", "crew", "random", "adversarial", "step", "within", "initial", "ties")
NUMBERS = ("k", "start", "scale", "variance", "ridge", "balance", "passes")
PREFERENCES: dict[str, Number] = {
    "topics": 10, "docs": 100, "workers": 60, "crew": 12, "random": 0.2, "adversarial": 0.05, "votes": 4, "step": 2.0,
    "within": 0.75, "initial": 1.0, "poor": 2.0, "ties": 0.0, "k": 16.0, "start": 100.0, "scale": 200.0,
    "variance": 10.0, "ridge": 0.25, "balance": 0.5, "passes": 20, "designs": 4, "coverage": 40,
}  # fmt: skip
DESIGNS: tuple[PairDesign, ...] = ("seed", "random", "swiss", "active")
SHARES = (0.25, 0.5, 1.0)  # of the votes that the published design needs
BEST = "sensitivity"  # the method by which designs are compared
WIDTH = 100
VOTE = 10  # what rating one more vote costs, in the bytes of which a bar is made


def preferences(asked: Asked) -> Shown:
    """All methods on the same votes, all designs with as many, and how often intervals hold."""
    from ringtrue.simulation.studies.rating_coverage import coverage_of_ratings
    from ringtrue.simulation.studies.rating_designs import rated_designs, rating_ways

    own, rng = asked.settings, asked.rng
    for part in ("designs", "coverage"):
        if own[part] < 0 or own[part] == 1:
            raise UsageError(f"--set {part}={own[part]}: 2 replications or more, or 0 to leave this part out")
    ways = rating_ways(**{name: own[name] for name in NUMBERS})  # type: ignore[arg-type]
    votes, worlds = asked.whole("votes"), _worlds(own)
    poor = replace(worlds[0], initial=float(own["poor"]))
    with progress_bar(VOTE * _work(asked), what="simulating") as bar:

        def advance(done: int) -> None:
            bar(VOTE * done)

        methods = [
            (world, rated_designs(rng, world, ways=ways, votes=votes, replications=asked.replications,
                                  progress=advance))
            for world in worlds
        ]  # fmt: skip
        designs = []
        if many := asked.whole("designs"):
            designs = [
                (world, rated_designs(rng, world, ways=some, designs=DESIGNS, shares=SHARES, votes=votes,
                                      replications=many, progress=advance))
                for world, some in ((worlds[0], ways), (poor, {BEST: ways[BEST]}))
            ]  # fmt: skip
        held = []
        if asked.whole("coverage"):
            held = coverage_of_ratings(rng, replications=asked.whole("coverage"), level=asked.level, progress=advance)
    return Shown(
        data=_data(methods, designs, held) | {"level": asked.level, "settings": dict(own)},
        grids=partial(_grids, methods, designs, held, asked),
        flat=partial(_flat, methods, designs),
    )


def _worlds(own: Mapping[str, Number]) -> list[PreferenceWorld]:
    """As asked, and with twice as many bad workers where that is possible."""
    from ringtrue.simulation.worlds.compared_topics import PreferenceWorld

    world = PreferenceWorld(**{name: own[name] for name in WORLD})  # type: ignore[arg-type]
    if not 0 < world.random + world.adversarial <= 0.5:
        return [world]
    return [world, replace(world, random=2 * world.random, adversarial=2 * world.adversarial)]


def _work(asked: Asked) -> int:
    """How many votes are looked at, about."""
    full = 5 * asked.whole("docs") * asked.whole("topics") * asked.whole("votes")
    return full * (16 * asked.replications + 63 * asked.whole("designs")) + 320_000 * asked.whole("coverage")


def _data(
    methods: Sequence[tuple[PreferenceWorld, list[RatedDesign]]],
    designs: Sequence[tuple[PreferenceWorld, list[RatedDesign]]],
    held: Sequence[HeldRatings],
) -> dict[str, object]:
    from ringtrue.simulation.studies.rating_coverage import SETTINGS, intervals_that_hold
    from ringtrue.simulation.studies.rating_designs import steps_between_groups

    return {
        "methods": [{**_bad(world), **one.as_dict()} for world, found in methods for one in found],
        "steps": [
            {**_bad(world), "step": name, "auc": auc.value, "auc_se": auc.se, "ndcg": ndcg.value, "ndcg_se": ndcg.se}
            for world, found in methods
            for name, auc, ndcg in steps_between_groups(found)
        ],
        "designs": [{"initial": world.initial, **one.as_dict()} for world, found in designs for one in found],
        "coverage": [
            {"setting": one.setting, "interval": one.interval, "coverage": one.coverage, "se": one.se,
             "best": one.best, "width": one.width, "promised": intervals_that_hold(one.setting, one.interval),
             "says": SETTINGS[one.setting].says}
            for one in held
        ],
    }  # fmt: skip


def _bad(world: PreferenceWorld) -> dict[str, object]:
    return {"random": world.random, "adversarial": world.adversarial}


def _grids(
    methods: Sequence[tuple[PreferenceWorld, list[RatedDesign]]],
    designs: Sequence[tuple[PreferenceWorld, list[RatedDesign]]],
    held: Sequence[HeldRatings],
    asked: Asked,
) -> list[Grid]:
    tables = [_method_table(world, found, asked) for world, found in methods]
    tables += [_design_table(designs, asked)] if designs else []
    return [*tables, _coverage_table(held, asked)] if held else tables


def _method_table(world: PreferenceWorld, found: Sequence[RatedDesign], asked: Asked) -> Grid:
    from ringtrue.simulation.studies.rating_designs import steps_between_groups

    steps = steps_between_groups(found)
    rows = [[one.method, *_cells(one.as_dict(), "auc"), *_cells(one.as_dict(), "ndcg")] for one in found]
    told = (
        f"{world.random:.0%} of the workers guess and {world.adversarial:.0%} say the opposite; {found[0].votes:,.0f} "
        f"votes on each of {world.topics:,} topics, {asked.replications:,} replications; ± is the standard error"
    )
    lines = [
        told,
        f"AUC: {_order([auc for _, auc, _ in steps])}",
        f"nDCG@10: {_order([ndcg for _, _, ndcg in steps])}",
    ]
    lines += [f"{name}: AUC {_signed(auc)}, nDCG@10 {_signed(ndcg)}" for name, auc, ndcg in steps]
    return Grid(columns=["method", "AUC", "±", "nDCG@10", "±"], rows=rows, caption=_filled(lines))


def _order(steps: Sequence[Estimate]) -> str:
    """The groups of methods in their order: a step of less than .01 is none."""
    from ringtrue.simulation.studies.rating_designs import GROUPS, TIED

    words = [", ".join(GROUPS[0])]
    for step, group in zip(steps, GROUPS[1:], strict=True):
        value = step.value or 0.0
        words += ["≈" if abs(value) < TIED else "<" if value > 0 else ">", ", ".join(group)]
    return " ".join(words)


def _design_table(designs: Sequence[tuple[PreferenceWorld, list[RatedDesign]]], asked: Asked) -> Grid:
    from ringtrue.stats.intervals import mean_estimate

    by_name = {
        (world.initial, one.design, one.share): one for world, found in designs for one in found if one.method == BEST
    }
    orders = list(dict.fromkeys(initial for initial, _, _ in by_name))
    columns = [f"{votes:,.0f}" for votes in _votes(designs)] * len(orders)
    rows = [
        [name, *(f"{by_name[initial, name, share].ndcg.mean():.3f}" for initial in orders for share in SHARES)]
        for name in DESIGNS
    ]
    few, full = SHARES[0], SHARES[-1]
    error = max(mean_estimate(one.ndcg).se or 0.0 for one in by_name.values())
    lines = [f"nDCG@10 by {BEST}, by votes on a topic; {asked.whole('designs'):,} replications, ± up to {error:.3f}"]
    for place, initial in enumerate(orders):
        active, seed = by_name[initial, "active", few].ndcg.mean(), by_name[initial, "seed", full].ndcg.mean()
        side = "left" if place == 0 else "right"
        lines.append(
            f"{side}: an initial order with noise of {initial:g} grades; active reaches {active:.3f} with a quarter of "
            f"the votes, the published design {seed:.3f} with all of them"
        )
    return Grid(columns=["design", *columns], rows=rows, caption=_filled(lines))


def _votes(designs: Sequence[tuple[PreferenceWorld, list[RatedDesign]]]) -> list[float]:
    """The votes on a topic at each share, as the active design could spend them."""
    spent = {one.share: one.votes for _, found in designs for one in found if one.design == "active"}
    return [spent[share] for share in SHARES]


def _coverage_table(held: Sequence[HeldRatings], asked: Asked) -> Grid:
    from ringtrue.simulation.studies.rating_coverage import SETTINGS, intervals_that_hold

    rows = [
        [one.setting, one.interval, f"{100 * one.coverage:.1f}", f"{100 * one.se:.1f}",
         f"{100 * one.best:.1f}", f"{one.width:.2f}", "yes" if intervals_that_hold(one.setting, one.interval) else "no"]
        for one in held
    ]  # fmt: skip
    told = (
        f"held: in how many of 100 cases an interval for {asked.level * 100:g}% holds the truth, a document's quality "
        f"less the mean, and that of the best tenth; {asked.whole('coverage'):,} replications"
    )
    promised = "promised: whether the interval is meant for such votes; glicko's are given to nobody"
    settings = dict.fromkeys(one.setting for one in held)
    best = {one.interval: one.best for one in held if one.setting == "grades"}
    ridge = (
        f"where a few documents stand out, the usual ridge of .25 pulls them inwards: of the best tenth "
        f"{best['laplace']:.0%} are held, with --ridge .05 {best['laplace, ridge .05']:.0%}"
    )
    lines = [told, promised, ridge, *(f"{name}: {SETTINGS[name].says}" for name in settings)]
    columns = ["votes", "interval", "held", "±", "best tenth", "width", "promised"]
    return Grid(columns=columns, rows=rows, left=2, caption=_filled(lines))


def _cells(row: Mapping[str, object], name: str) -> list[str]:
    return [f"{row[name]:.3f}", f"{row[f'{name}_se']:.3f}"]


def _signed(one: Estimate) -> str:
    return f"{one.value:+.3f} ±{one.se:.3f}".replace("-", "−")


def _filled(lines: Sequence[str]) -> str:
    return "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines)


def _flat(
    methods: Sequence[tuple[PreferenceWorld, list[RatedDesign]]],
    designs: Sequence[tuple[PreferenceWorld, list[RatedDesign]]],
) -> Grid:
    """Every method and design, a row each."""
    some = [(world, one) for world, found in (*methods, *designs) for one in found]
    rows = [{**_bad(world), "initial": world.initial, **one.as_dict()} for world, one in some]
    return Grid(columns=list(rows[0]), rows=[[str(value) for value in row.values()] for row in rows])
