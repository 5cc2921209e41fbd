"""The study of preferences, for `ringtrue simulate`: methods, designs, and intervals of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ringtrue.cli.errors import OptionError
from ringtrue.cli.output import progress_bar
from ringtrue.cli.studies import Number, StudyOutput, StudyParameters, wrap_lines
from ringtrue.formatting.grid import Grid

if TYPE_CHECKING:
    from ringtrue.preference.choose_pairs import PairDesign
    from ringtrue.simulation.studies.rating_coverage import RatingCoverage
    from ringtrue.simulation.studies.rating_designs import DesignScores
    from ringtrue.simulation.worlds.compared_topics import PreferenceWorld
    from ringtrue.stats.results import Estimate

    RatedWorlds: TypeAlias = Sequence[tuple[PreferenceWorld, list[DesignScores]]]

WORLD_SETTINGS = ("topics", "docs", "workers", "crew", "random", "adversarial", "step", "within", "initial", "ties")
RATING_SETTINGS = ("k", "start", "scale", "variance", "ridge", "balance", "passes")
PREFERENCE_SETTINGS: dict[str, Number] = {
    "topics": 10, "docs": 100, "workers": 60, "crew": 12, "random": 0.2, "adversarial": 0.05, "votes": 4, "step": 2.0,
    "within": 0.75, "initial": 1.0, "poor": 2.0, "ties": 0.0, "k": 16.0, "start": 100.0, "scale": 200.0,
    "variance": 10.0, "ridge": 0.25, "balance": 0.5, "passes": 20, "designs": 4, "coverage": 40,
}  # fmt: skip
DESIGNS: tuple[PairDesign, ...] = ("seed", "random", "swiss", "active")
VOTE_SHARES = (0.25, 0.5, 1.0)  # of the votes that the published design needs
REFERENCE_METHOD = "sensitivity"  # the method by which designs are compared
WORK_PER_VOTE = 10  # what rating one more vote costs, in the bytes of which a bar is made


def study_preferences(parameters: StudyParameters) -> StudyOutput:
    """All methods on the same votes, all designs with as many, and how often intervals hold."""
    from ringtrue.simulation.studies.rating_coverage import coverage_of_ratings
    from ringtrue.simulation.studies.rating_designs import make_rating_settings, score_designs

    settings, rng = parameters.settings, parameters.rng
    for part in ("designs", "coverage"):
        if settings[part] < 0 or settings[part] == 1:
            raise OptionError(
                "bad-value",
                f"--set {part}={settings[part]}: 2 replications or more, or 0 to leave this part out",
                parameter="set",
            )
    rating_methods = make_rating_settings(**{name: settings[name] for name in RATING_SETTINGS})  # type: ignore[arg-type]
    votes, worlds = parameters.int_setting("votes"), _preference_worlds(settings)
    poor_world = replace(worlds[0], initial=float(settings["poor"]))
    with progress_bar(WORK_PER_VOTE * _count_rated_votes(parameters), description="simulating") as bar:

        def advance(done: int) -> None:
            bar(WORK_PER_VOTE * done)

        methods = [
            (
                world,
                score_designs(
                    rng,
                    world,
                    methods=rating_methods,
                    votes=votes,
                    replications=parameters.replications,
                    progress=advance,
                ),
            )
            for world in worlds
        ]
        designs = []
        if n_replications := parameters.int_setting("designs"):
            designs = [
                (
                    world,
                    score_designs(
                        rng,
                        world,
                        methods=world_methods,
                        designs=DESIGNS,
                        shares=VOTE_SHARES,
                        votes=votes,
                        replications=n_replications,
                        progress=advance,
                    ),
                )
                for world, world_methods in (
                    (worlds[0], rating_methods),
                    (poor_world, {REFERENCE_METHOD: rating_methods[REFERENCE_METHOD]}),
                )
            ]
        coverages = []
        if parameters.int_setting("coverage"):
            coverages = coverage_of_ratings(
                rng, replications=parameters.int_setting("coverage"), level=parameters.level, progress=advance
            )
    return StudyOutput(
        payload=_study_payload(methods, designs, coverages) | {"level": parameters.level, "settings": dict(settings)},
        grids=partial(_preference_study_grids, methods, designs, coverages, parameters),
        csv_grid=partial(_rated_designs_csv, methods, designs),
    )


def _preference_worlds(settings: Mapping[str, Number]) -> list[PreferenceWorld]:
    """As asked, and with twice as many bad workers where that is possible."""
    from ringtrue.simulation.worlds.compared_topics import PreferenceWorld

    world = PreferenceWorld(**{name: settings[name] for name in WORLD_SETTINGS})  # type: ignore[arg-type]
    if not 0 < world.random + world.adversarial <= 0.5:
        return [world]
    return [world, replace(world, random=2 * world.random, adversarial=2 * world.adversarial)]


def _count_rated_votes(parameters: StudyParameters) -> int:
    """How many votes are looked at, about."""
    votes_per_pass = (
        5 * parameters.int_setting("docs") * parameters.int_setting("topics") * parameters.int_setting("votes")
    )
    return votes_per_pass * (
        16 * parameters.replications + 63 * parameters.int_setting("designs")
    ) + 320_000 * parameters.int_setting("coverage")


def _study_payload(
    methods: RatedWorlds, designs: RatedWorlds, coverages: Sequence[RatingCoverage]
) -> dict[str, object]:
    from ringtrue.simulation.studies.rating_coverage import SETTINGS, is_made_for
    from ringtrue.simulation.studies.rating_designs import estimate_group_steps

    return {
        "methods": [
            {**_bad_worker_shares(world), **rated_design.as_dict()}
            for world, rated_designs in methods
            for rated_design in rated_designs
        ],
        "steps": [
            {
                **_bad_worker_shares(world),
                "step": name,
                "auc": auc.value,
                "auc_se": auc.se,
                "ndcg": ndcg.value,
                "ndcg_se": ndcg.se,
            }
            for world, rated_designs in methods
            for name, auc, ndcg in estimate_group_steps(rated_designs)
        ],
        "designs": [
            {"initial": world.initial, **rated_design.as_dict()}
            for world, rated_designs in designs
            for rated_design in rated_designs
        ],
        "coverage": [
            {
                "setting": coverage.setting,
                "interval": coverage.interval,
                "coverage": coverage.coverage,
                "se": coverage.se,
                "best": coverage.best,
                "width": coverage.width,
                "promised": is_made_for(coverage.setting, coverage.interval),
                "says": SETTINGS[coverage.setting].description,
            }
            for coverage in coverages
        ],
    }


def _bad_worker_shares(world: PreferenceWorld) -> dict[str, object]:
    return {"random": world.random, "adversarial": world.adversarial}


def _preference_study_grids(
    methods: RatedWorlds, designs: RatedWorlds, coverages: Sequence[RatingCoverage], parameters: StudyParameters
) -> list[Grid]:
    tables = [_method_grid(world, rated_designs, parameters) for world, rated_designs in methods]
    tables += [_design_grid(designs, parameters)] if designs else []
    return [*tables, _rating_coverage_grid(coverages, parameters)] if coverages else tables


def _method_grid(world: PreferenceWorld, rated_designs: Sequence[DesignScores], parameters: StudyParameters) -> Grid:
    from ringtrue.simulation.studies.rating_designs import estimate_group_steps

    steps = estimate_group_steps(rated_designs)
    rows = [
        [
            rated_design.method,
            *_mean_and_se_cells(rated_design.as_dict(), "auc"),
            *_mean_and_se_cells(rated_design.as_dict(), "ndcg"),
        ]
        for rated_design in rated_designs
    ]
    description = (
        f"{world.random:.0%} of the workers guess and {world.adversarial:.0%} say the opposite; "
        f"{rated_designs[0].votes:,.0f} votes on each of {world.topics:,} topics, {parameters.replications:,} "
        "replications; ± is the standard error"
    )
    lines = [
        description,
        f"AUC: {_describe_order([auc for _, auc, _ in steps])}",
        f"nDCG@10: {_describe_order([ndcg for _, _, ndcg in steps])}",
    ]
    lines += [f"{name}: AUC {_signed_estimate(auc)}, nDCG@10 {_signed_estimate(ndcg)}" for name, auc, ndcg in steps]
    return Grid(columns=["method", "AUC", "±", "nDCG@10", "±"], rows=rows, caption=wrap_lines(lines))


def _describe_order(steps: Sequence[Estimate]) -> str:
    """The groups of methods in their order: a step of less than .01 is none."""
    from ringtrue.simulation.studies.rating_designs import METHOD_GROUPS, MIN_STEP

    words = [", ".join(METHOD_GROUPS[0])]
    for step, group in zip(steps, METHOD_GROUPS[1:], strict=True):
        value = step.value or 0.0
        words += ["≈" if abs(value) < MIN_STEP else "<" if value > 0 else ">", ", ".join(group)]
    return " ".join(words)


def _design_grid(designs: RatedWorlds, parameters: StudyParameters) -> Grid:
    from ringtrue.stats.intervals import estimate_mean

    design_by_key = {
        (world.initial, rated_design.design, rated_design.share): rated_design
        for world, rated_designs in designs
        for rated_design in rated_designs
        if rated_design.method == REFERENCE_METHOD
    }
    noise_levels = list(dict.fromkeys(initial for initial, _, _ in design_by_key))
    columns = [f"{votes:,.0f}" for votes in _votes_per_topic(designs)] * len(noise_levels)
    rows = [
        [
            name,
            *(
                f"{design_by_key[initial, name, share].ndcg.mean():.3f}"
                for initial in noise_levels
                for share in VOTE_SHARES
            ),
        ]
        for name in DESIGNS
    ]
    smallest_share, largest_share = VOTE_SHARES[0], VOTE_SHARES[-1]
    max_se = max(estimate_mean(rated_design.ndcg).se or 0.0 for rated_design in design_by_key.values())
    lines = [
        (
            f"nDCG@10 by {REFERENCE_METHOD}, by votes on a topic; {parameters.int_setting('designs'):,} "
            f"replications, ± up to {max_se:.3f}"
        )
    ]
    for index, initial in enumerate(noise_levels):
        active, seed = (
            design_by_key[initial, "active", smallest_share].ndcg.mean(),
            design_by_key[initial, "seed", largest_share].ndcg.mean(),
        )
        side = "left" if index == 0 else "right"
        lines.append(
            f"{side}: an initial order with noise of {initial:g} grades; active reaches {active:.3f} with a quarter of "
            f"the votes, the published design {seed:.3f} with all of them"
        )
    return Grid(columns=["design", *columns], rows=rows, caption=wrap_lines(lines))


def _votes_per_topic(designs: RatedWorlds) -> list[float]:
    """The votes on a topic at each share, as the active design could spend them."""
    votes_by_share = {
        rated_design.share: rated_design.votes
        for _, rated_designs in designs
        for rated_design in rated_designs
        if rated_design.design == "active"
    }
    return [votes_by_share[share] for share in VOTE_SHARES]


def _rating_coverage_grid(coverages: Sequence[RatingCoverage], parameters: StudyParameters) -> Grid:
    from ringtrue.simulation.studies.rating_coverage import SETTINGS, is_made_for

    rows = [
        [
            coverage.setting,
            coverage.interval,
            f"{100 * coverage.coverage:.1f}",
            f"{100 * coverage.se:.1f}",
            f"{100 * coverage.best:.1f}",
            f"{coverage.width:.2f}",
            "yes" if is_made_for(coverage.setting, coverage.interval) else "no",
        ]
        for coverage in coverages
    ]
    description = (
        f"held: in how many of 100 cases an interval for {parameters.level * 100:g}% holds the truth, a document's "
        f"quality less the mean, and that of the best tenth; {parameters.int_setting('coverage'):,} replications"
    )
    promise_text = "promised: whether the interval is meant for such votes; glicko's are given to nobody"
    settings = dict.fromkeys(coverage.setting for coverage in coverages)
    best_by_interval = {coverage.interval: coverage.best for coverage in coverages if coverage.setting == "grades"}
    ridge_text = (
        f"where a few documents stand out, the usual ridge of .25 pulls them inwards: of the best tenth "
        f"{best_by_interval['laplace']:.0%} are held, with --ridge .05 {best_by_interval['laplace, ridge .05']:.0%}"
    )
    lines = [description, promise_text, ridge_text, *(f"{name}: {SETTINGS[name].description}" for name in settings)]
    columns = ["votes", "interval", "held", "±", "best tenth", "width", "promised"]
    return Grid(columns=columns, rows=rows, left=2, caption=wrap_lines(lines))


def _mean_and_se_cells(row: Mapping[str, object], name: str) -> list[str]:
    return [f"{row[name]:.3f}", f"{row[f'{name}_se']:.3f}"]


def _signed_estimate(estimate: Estimate) -> str:
    return f"{estimate.value:+.3f} ±{estimate.se:.3f}".replace("-", "−")


def _rated_designs_csv(methods: RatedWorlds, designs: RatedWorlds) -> Grid:
    """Every method and design, a row each."""
    rows = [
        {**_bad_worker_shares(world), "initial": world.initial, **rated_design.as_dict()}
        for world, rated_designs in (*methods, *designs)
        for rated_design in rated_designs
    ]
    return Grid(columns=list(rows[0]), rows=[[str(value) for value in row.values()] for row in rows])
