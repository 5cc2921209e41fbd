"""`ringtrue rate`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.options.ratings import RatingFiles, RatingTargets
from ringtrue.cli.output import OutputFormat, emit, print_notes, progress_bar
from ringtrue.messages import Note, Suggestion, notes_as_dict

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement
    from ringtrue.judges.votes import Repeats
    from ringtrue.preference import RatingComparison, Ratings
    from ringtrue.preference.judge_aware_ratings import JudgeKind
    from ringtrue.tables import Judgments, Preferences

METHODS = ("bradley-terry", "elo", "glicko", "win-rate")
ALL_METHODS = "all"
METHODS_BY_OPTION: dict[str, tuple[str, ...]] = {  # options that say something for some methods only
    **dict.fromkeys(("by_judge", "judge_model", "ties", "ridge", "resamples"), ("bradley-terry",)),
    "interval": ("bradley-terry", "glicko"),
    **dict.fromkeys(("passes", "start", "scale"), ("elo", "glicko")),
    "k": ("elo",),
    "variance": ("glicko",),
    "each": ("elo", "glicko", "win-rate"),
    "balance": ("win-rate",),
}
WORK_PER_VOTE = 64  # drawing one anew takes as long as reading so many bytes
MAX_VOTES = 100_000  # beyond which agreement would take longer than the ratings


@click.command("rate", cls=common.Command)
@click.argument("preferences", nargs=-1, required=True, metavar="PREFERENCES…")
@option(
    "--method",
    "How votes become ratings; all compares the methods, by --gold or --folds.",
    choices=[*METHODS, ALL_METHODS],
    default=METHODS[0],
)
@option("--em", "Weigh the judges first, by how often they are right.", is_flag=True)
@option("--by-judge", "Rate the judges along with the documents.", is_flag=True)
@option(
    "--judge-model", "The same, and what is said of a judge; usually sensitivity.", choices=["sensitivity", "crowd-bt"]
)
@option("--ties", "A tie is half a win, or has a chance of its own.", choices=["half", "davidson"], default="half")
@option("--ridge", "How close to each other documents are before the first vote.", type=float, default=0.25)
@option(
    "--passes",
    "How often to go through the matches; usually 20 times by elo, once by glicko.",
    type=click.IntRange(1, 10_000),
)
@option("-k, --k", "Of elo: how much a match can move.", type=float, default=16.0)
@option("--start", "Of elo and glicko: the rating before the first match.", type=float, default=100.0)
@option("--scale", "Of elo and glicko: so many points more are odds of ten to one.", type=float, default=200.0)
@option("--variance", "Of glicko: of the ratings, before the first match.", type=float, default=10.0)
@option(
    "--balance",
    "Of win-rate: the weight of wins; the rest is how often a document was compared.",
    type=float,
    default=0.5,
)
@option(
    "--each",
    "Whether a match is a pair with the mean of its votes, or a vote.",
    choices=["pair", "vote"],
    default="pair",
)
@option(
    "--interval",
    "From the curvature of the posterior, or from votes drawn anew.",
    choices=["laplace", "bootstrap", "none"],
    default="laplace",
)
@common.resamples_option(1_000, lowest=100, highest=1_000_000)
@common.repeats_option()
@option("--gold FILE", "Judgments to be trusted: how well do ratings tell them apart (AUC)?")
@option("--rel LABEL", common.REL_HELP, type=int, default=1)
@option(
    "--folds",
    "With --method all: foretell each of so many parts of the votes by the others.",
    type=click.IntRange(min=2),
)
@common.per_query_option
@common.output_option("all ratings as .csv, .tsv, .jsonl, .parquet, or as a .run")
@option("--chances FILE", "Where to write how likely each document is preferred to each other.")
@option("--qrels FILE", "Where to write the ratings as labels, cut by one of the next three.")
@option("--threshold X[,Y…]", "Label 1 from the rating X on, 2 from Y on, and so on.")
@option("--quantile Q[,…]", "Label 1 above this share of a query's documents, and so on.")
@option("--gaps N", "N labels, cut at the widest gaps of a query.", type=click.IntRange(min=2))
@common.level_option
@common.seed_option
@common.gold_selection_options
@common.input_options
@common.output_options
def command(method: str, per_query: bool, form: OutputFormat, **options: Any) -> None:
    """Which documents are preferred?

    PREFERENCES say which of two documents somebody found better: query, left, right, winner, and judge where there
    are several; or lines of `query doc doc winner`. Several files count together, and votes on traps are left out.
    Each document gets a rating, with an interval where one can be defended; in each query the best comes first.
    --columns and --where are about PREFERENCES.
    """
    files, targets = common.take(RatingFiles, options), common.take(RatingTargets, options)
    _refuse_unused_options(method, options, files, targets)
    targets.require_writable(files, method)
    votes, gold = files.read_votes(), files.read_gold()
    if method == ALL_METHODS:
        _compare_methods(files, votes, gold, options, per_query=per_query, form=form)
    else:
        _rate_by_method(files, targets, votes, gold, {"method": method, **options}, per_query=per_query, form=form)


def _rate_by_method(
    files: RatingFiles,
    targets: RatingTargets,
    votes: Preferences,
    gold: Judgments | None,
    options: dict[str, Any],
    *,
    per_query: bool,
    form: OutputFormat,
) -> None:
    """Rate by one method, write what was asked for, and print."""
    import numpy as np

    from ringtrue.cli.tables.ratings import rating_grids
    from ringtrue.preference import rate

    seed, _ = options.pop("seed"), options.pop("folds")
    is_by_judge, judge_model = options.pop("by_judge"), options.pop("judge_model")
    judge_kind: JudgeKind | None = judge_model or ("sensitivity" if is_by_judge else None)
    work = WORK_PER_VOTE * votes.frame.height * options["resamples"] if options["interval"] == "bootstrap" else 0
    with progress_bar(work, description="drawing votes anew") as advance:
        ratings: Ratings = files.explain_errors(
            lambda: rate(
                votes,
                by_judge=judge_kind,
                gold=gold,
                rng=np.random.default_rng(seed),
                progress=lambda n_drawn: advance(WORK_PER_VOTE * n_drawn),
                **options,
            )
        )
    notes = [*files.notes, *ratings.notes]
    targets.write(ratings, notes.append)
    if form == "csv" and ratings.judges:
        notes.append(Note("judges-not-in-csv", "--format csv prints the documents; --json has the judges too"))
    print_notes(notes)
    if form == "csv":  # as -o FILE.csv has it
        click.echo(ratings.frame.write_csv(), nl=False)
        return
    agreement, reasons = _try_agreement(votes, options["repeats"], options["level"], seed)
    payload = {key: value for key, value in ratings.as_dict().items() if key not in ("notes", "note_codes")} | {
        "transitivity": None
        if agreement is None or agreement.transitivity is None
        else agreement.transitivity.as_dict(),
        "agreement": _agreement_as_dict(agreement, reasons),
        "files": targets.path_by_option,
        **notes_as_dict([*notes, *reasons]),
    }
    emit(
        form,
        payload=payload,
        grid=partial(rating_grids, ratings, agreement, targets, rel=options["rel"], per_query=per_query),
    )


def _try_agreement(
    votes: Preferences, repeats: Repeats | None, level: float, seed: int
) -> tuple[Agreement | None, tuple[Note, ...]]:
    """Whether the votes fit an order and judges agree, as `ringtrue agree` has it, and why not where they cannot be."""
    import numpy as np

    from ringtrue.judges.agreement import agree
    from ringtrue.preference.rate import drop_traps
    from ringtrue.tables.judgments import NO_JUDGE

    real_votes, _ = drop_traps(votes)
    if real_votes.frame.height > MAX_VOTES:
        text = f"transitivity and agreement are left out beyond {MAX_VOTES:,} votes"
        return None, (Note("agreement-left-out", text, suggestions=[Suggestion("computes them", function="agree")]),)
    is_anonymous = bool((real_votes.frame["judge"] == NO_JUDGE).all())
    # A judge with two votes on a pair says nothing about two judges.
    counted_repeats: Repeats | None = "all" if is_anonymous else "last" if repeats == "all" else repeats
    agreement = agree(
        real_votes,
        alone=True,
        pairs=0,
        repeats=counted_repeats,
        level=level,
        resamples=0 if is_anonymous else 1_000,
        rng=np.random.default_rng(seed),
    )
    if is_anonymous:
        text = "no judge is named, so that agreement between judges cannot be measured"
        return agreement, (Note("judges-not-named", text),)
    if agreement.overall["agreement"].value is None:
        text = "no pair has votes of two judges, so that their agreement cannot be measured"
        return agreement, (Note("no-shared-items", text),)
    return agreement, ()


def _agreement_as_dict(agreement: Agreement | None, reasons: tuple[Note, ...]) -> dict[str, object] | None:
    if agreement is None or reasons:
        return None
    return {name: agreement.overall[name].as_dict() for name in ("agreement", "alpha_nominal")}


def _compare_methods(
    files: RatingFiles,
    votes: Preferences,
    gold: Judgments | None,
    options: dict[str, Any],
    *,
    per_query: bool,
    form: OutputFormat,
) -> None:
    """All methods side by side."""
    import numpy as np

    from ringtrue.cli.tables.rating_methods import method_comparison_csv, method_comparison_grids
    from ringtrue.preference import compare_ratings

    comparison: RatingComparison = files.explain_errors(
        lambda: compare_ratings(
            votes,
            gold=gold,
            rel=options["rel"],
            folds=options["folds"],
            repeats=options["repeats"],
            rng=np.random.default_rng(options["seed"]),
        )
    )
    notes = [*files.notes, *comparison.notes]
    print_notes(notes)
    emit(
        form,
        payload=comparison.as_dict() | {"seed": options["seed"], **notes_as_dict(notes)},
        grid=partial(method_comparison_grids, comparison, rel=options["rel"], per_query=per_query),
        csv_grid=partial(method_comparison_csv, comparison),
    )


def _refuse_unused_options(method: str, options: dict[str, Any], files: RatingFiles, targets: RatingTargets) -> None:
    """Refuse options that would change nothing."""
    for name, methods in METHODS_BY_OPTION.items():
        if common.is_given(name) and method not in methods:
            scope = f"is for {' and '.join(methods)}, and "
            method_text = (
                "--method all takes every method as it usually is" if method == ALL_METHODS else f"this is {method}"
            )
            raise OptionError(
                "unused-parameter", f"{common.option_name(name)} {scope}{method_text}; leave it out", parameter=name
            )
    if method == ALL_METHODS:
        _refuse_with_all_methods(options, files, targets)
    elif options["folds"] is not None:
        raise OptionError(
            "needs-parameter",
            "--folds compares methods by how well they foretell votes; say --method all as well",
            parameter="method",
        )
    if common.is_given("interval") and method == "glicko" and options["interval"] != "none":
        raise OptionError(
            "unused-parameter",
            f"--interval {options['interval']} is for bradley-terry; glicko has a variance of its own",
            parameter="interval",
        )
    if common.is_given("resamples") and options["interval"] != "bootstrap":
        raise OptionError(
            "unused-parameter",
            "--resamples is about --interval bootstrap, which was not asked for: leave it out",
            parameter="resamples",
        )
    if common.is_given("each") and options["em"]:
        raise OptionError(
            "conflicting-parameters",
            "--each: after --em a match is a pair with a probable score; leave it out",
            parameter="each",
        )
    if files.gold is None:
        for name in ("rel", "per_query"):
            if common.is_given(name):
                raise OptionError(
                    "needs-parameter",
                    f"{common.option_name(name)} is about gold labels; give them: --gold FILE",
                    parameter="gold",
                )


def _refuse_with_all_methods(options: dict[str, Any], files: RatingFiles, targets: RatingTargets) -> None:
    if options["em"]:
        raise OptionError(
            "unused-parameter",
            "--method all has elo, glicko and bradley-terry with --em and without; leave it out",
            parameter="em",
        )
    if targets.path_by_option:
        raise OptionError(
            "conflicting-parameters",
            f"{next(iter(targets.path_by_option))}: --method all compares methods; choose one to write its ratings",
            parameter="method",
        )
    if files.gold is None and options["folds"] is None:
        raise OptionError(
            "needs-parameter",
            "--method all compares the methods by what? Give --gold FILE, --folds 10, or both",
            parameter="gold",
        )
