"""`ringtrue rate`."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.options.common import Command, input_options, is_given, output_options
from ringtrue.cli.options.rating_inputs import Files
from ringtrue.cli.options.rating_outputs import Targets
from ringtrue.cli.output import OutputFormat, emit, progress_bar, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.judges.agreement import Agreement
    from ringtrue.judges.votes import Repeats
    from ringtrue.preference import RatingComparison, Ratings
    from ringtrue.preference.judge_sensitivity import JudgeKind
    from ringtrue.tables import Judgments, Preferences

__all__ = ["command"]

METHODS = ("bradley-terry", "elo", "glicko", "win-rate")
ALL = "all"
USUAL: dict[str, Any] = {  # as `Rating` has it, without loading it for --help
    "ties": "half", "k": 16.0, "start": 100.0, "scale": 200.0, "variance": 10.0, "ridge": 0.25, "balance": 0.5,
    "each": "pair", "interval": "laplace", "resamples": 1000,
}  # fmt: skip
ABOUT: dict[str, tuple[str, ...]] = {  # options that say something for some methods only
    **dict.fromkeys(("by_judge", "judge_model", "ties", "ridge", "resamples"), ("bradley-terry",)),
    "interval": ("bradley-terry", "glicko"),
    **dict.fromkeys(("passes", "start", "scale"), ("elo", "glicko")),
    "k": ("elo",),
    "variance": ("glicko",),
    "each": ("elo", "glicko", "win-rate"),
    "balance": ("win-rate",),
}
VOTE = 64  # drawing one anew takes as long as reading so many bytes
MOST_VOTES = 100_000  # beyond which agreement would take longer than the ratings


def _usual(name: str) -> dict[str, Any]:
    return {"default": USUAL[name], "show_default": True}


@click.command("rate", cls=Command)
@click.argument("preferences", nargs=-1, required=True, metavar="PREFERENCES…")
@click.option("--method", type=click.Choice([*METHODS, ALL]), default=METHODS[0], show_default=True,
              help="How votes become ratings; all compares the methods, by --gold or --folds.")  # fmt: skip
@click.option("--em", is_flag=True, help="Weigh the judges first, by how often they are right.")
@click.option("--by-judge", is_flag=True, help="Rate the judges along with the documents.")
@click.option("--judge-model", type=click.Choice(["sensitivity", "crowd-bt"]),
              help="The same, and what is said of a judge; usually sensitivity.")  # fmt: skip
@click.option("--ties", type=click.Choice(["half", "davidson"]), **_usual("ties"),
              help="A tie is half a win, or has a chance of its own.")  # fmt: skip
@click.option("--ridge", type=float, **_usual("ridge"),
              help="How close to each other documents are before the first vote.")  # fmt: skip
@click.option("--passes", type=click.IntRange(1, 10_000),
              help="How often to go through the matches; usually 20 times by elo, once by glicko.")  # fmt: skip
@click.option("-k", "--k", type=float, **_usual("k"), help="Of elo: how much a match can move.")
@click.option("--start", type=float, **_usual("start"), help="Of elo and glicko: the rating before the first match.")
@click.option("--scale", type=float, **_usual("scale"),
              help="Of elo and glicko: so many points more are odds of ten to one.")  # fmt: skip
@click.option("--variance", type=float, **_usual("variance"), help="Of glicko: of the ratings, before the first match.")
@click.option("--balance", type=float, **_usual("balance"),
              help="Of win-rate: the weight of wins; the rest is how often a document was compared.")  # fmt: skip
@click.option("--each", type=click.Choice(["pair", "vote"]), **_usual("each"),
              help="Whether a match is a pair with the mean of its votes, or a vote.")  # fmt: skip
@click.option("--interval", type=click.Choice(["laplace", "bootstrap", "none"]), **_usual("interval"),
              help="From the curvature of the posterior, or from votes drawn anew.")  # fmt: skip
@click.option("--resamples", type=click.IntRange(100, 1_000_000), **_usual("resamples"),
              help="For --interval bootstrap: how often.")  # fmt: skip
@click.option("--repeats", type=click.Choice(["first", "last", "all"]),
              help="Where a judge voted on a pair again: which vote counts, or each as its own.")  # fmt: skip
@click.option("--gold", metavar="QRELS", help="Judgments to be trusted: how well do ratings tell them apart (AUC)?")
@click.option("--rel", type=int, default=1, show_default=True, help="The lowest gold label that is relevant.")
@click.option("--folds", type=click.IntRange(min=2),
              help="With --method all: foretell each of so many parts of the votes by the others.")  # fmt: skip
@click.option("--per-query", is_flag=True, help="The AUC of every query as well, however many there are.")
@click.option("-o", "--output", metavar="FILE",
              help="Where to write all ratings: .csv, .tsv, .jsonl, .parquet, or as a .run.")  # fmt: skip
@click.option("--chances", metavar="FILE", help="Where to write how likely each document is preferred to each other.")
@click.option("--qrels", metavar="FILE", help="Where to write the ratings as labels, cut by one of the next three.")
@click.option("--threshold", metavar="X[,Y…]", help="Label 1 from the rating X on, 2 from Y on, and so on.")
@click.option("--quantile", metavar="Q[,…]", help="Label 1 above this share of a query's documents, and so on.")
@click.option("--gaps", type=click.IntRange(min=2), metavar="N", help="N labels, cut at the widest gaps of a query.")
@click.option("--level", type=float, default=0.95, show_default=True, help="How often such intervals hold.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
@click.option("--gold-columns", multiple=True, metavar="NAME=COLUMN", help="What the file of --gold calls a column.")
@click.option("--gold-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of --gold.")
@click.option("--as", "forced", multiple=True, metavar="FORMAT", help="Force a format; see docs/reference/formats.md.")
@input_options
@output_options
def command(method: str, per_query: bool, form: OutputFormat, **given: Any) -> None:
    """Which documents are preferred?

    PREFERENCES say which of two documents somebody found better: query, left, right, winner, and judge where there
    are several; or lines of `query doc doc winner`. Several files count together, and votes on traps are left out.
    Each document gets a rating, with an interval where one can be defended; in each query the best comes first.
    --columns and --where are about PREFERENCES.
    """
    files = Files(**{one.name: given.pop(one.name) for one in fields(Files) if one.name in given})
    targets = Targets(**{one.name: given.pop(one.name) for one in fields(Targets)})
    _refuse_idle(method, given, files, targets)
    targets.require(files, method)
    votes, gold = files.read(), files.read_gold()
    if method == ALL:
        _compare(files, votes, gold, given, per_query=per_query, form=form)
    else:
        _rate(files, targets, votes, gold, {"method": method, **given}, per_query=per_query, form=form)


def _rate(
    files: Files, targets: Targets, votes: Preferences, gold: Judgments | None, given: dict[str, Any], *,
    per_query: bool, form: OutputFormat,
) -> None:  # fmt: skip
    """Rate by one method, write what was asked for, and print."""
    import numpy as np

    from ringtrue.cli.tables.ratings import grids
    from ringtrue.preference import rate

    seed, _ = given.pop("seed"), given.pop("folds")
    asked, chosen = given.pop("by_judge"), given.pop("judge_model")
    model: JudgeKind | None = chosen or ("sensitivity" if asked else None)
    work = VOTE * votes.frame.height * given["resamples"] if given["interval"] == "bootstrap" else 0
    with progress_bar(work, what="drawing votes anew") as advance:
        found: Ratings = files.explained(
            lambda: rate(votes, by_judge=model, gold=gold, rng=np.random.default_rng(seed),
                         progress=lambda drawn: advance(VOTE * drawn), **given)
        )  # fmt: skip
    notes = [*files.notes, *found.notes]
    targets.write(found, notes.append)
    if form == "csv" and found.judges:
        notes.append("--format csv prints the documents; --json has the judges too")
    tell(notes)
    if form == "csv":  # as -o FILE.csv has it
        click.echo(found.frame.write_csv(), nl=False)
        return
    beside, why = _beside(votes, given["repeats"], given["level"], seed)
    data = {key: value for key, value in found.as_dict().items() if key != "notes"} | {
        "transitivity": None if beside is None or beside.transitivity is None else beside.transitivity.as_dict(),
        "agreement": _agreement(beside, why),
        "files": targets.files,
        "notes": [*notes, *why],
    }
    emit(form, data=data, grid=partial(grids, found, beside, targets, rel=given["rel"], per_query=per_query))


def _beside(
    votes: Preferences, repeats: Repeats | None, level: float, seed: int
) -> tuple[Agreement | None, tuple[str, ...]]:
    """Whether the votes fit an order and judges agree, as `ringtrue agree` has it, and why not where they cannot be."""
    import numpy as np

    from ringtrue.judges.agreement import agree
    from ringtrue.preference.rate import without_traps
    from ringtrue.tables.judgments import NO_JUDGE

    asked, _ = without_traps(votes)
    if asked.frame.height > MOST_VOTES:
        told = f"transitivity and agreement are left out beyond {MOST_VOTES:,} votes; `ringtrue agree` computes them"
        return None, (told,)
    nameless = bool((asked.frame["judge"] == NO_JUDGE).all())
    # A judge with two votes on a pair says nothing about two judges.
    kept: Repeats | None = "all" if nameless else "last" if repeats == "all" else repeats
    found = agree(asked, alone=True, pairs=0, repeats=kept, level=level,
                  resamples=0 if nameless else 1_000, rng=np.random.default_rng(seed))  # fmt: skip
    if nameless:
        return found, ("nothing tells the judges apart: whether two of them agree cannot be told",)
    if found.overall["agreement"].value is None:
        return found, ("no pair has votes of two judges: whether they agree cannot be told",)
    return found, ()


def _agreement(beside: Agreement | None, why: tuple[str, ...]) -> dict[str, object] | None:
    if beside is None or why:
        return None
    return {name: beside.overall[name].as_dict() for name in ("agreement", "alpha_nominal")}


def _compare(
    files: Files, votes: Preferences, gold: Judgments | None, given: dict[str, Any], *, per_query: bool,
    form: OutputFormat,
) -> None:  # fmt: skip
    """All methods side by side."""
    import numpy as np

    from ringtrue.cli.tables.rating_methods import comparison_grids, flat_comparison
    from ringtrue.preference import compare_ratings

    found: RatingComparison = files.explained(
        lambda: compare_ratings(votes, gold=gold, rel=given["rel"], folds=given["folds"], repeats=given["repeats"],
                                rng=np.random.default_rng(given["seed"]))
    )  # fmt: skip
    notes = [*files.notes, *found.notes]
    tell(notes)
    emit(
        form,
        data=found.as_dict() | {"seed": given["seed"], "notes": notes},
        grid=partial(comparison_grids, found, rel=given["rel"], per_query=per_query),
        flat=partial(flat_comparison, found),
    )


def _refuse_idle(method: str, given: dict[str, Any], files: Files, targets: Targets) -> None:
    """Refuse options that would change nothing."""
    for name, methods in ABOUT.items():
        if is_given(name) and method not in methods:
            others = f"is for {' and '.join(methods)}, and "
            this = "--method all takes every method as it usually is" if method == ALL else f"this is {method}"
            raise UsageError(f"{_option(name)} {others}{this}; leave it out")
    if method == ALL:
        _refuse_for_all(given, files, targets)
    elif given["folds"] is not None:
        raise UsageError("--folds compares methods by how well they foretell votes; say --method all as well")
    if is_given("interval") and method == "glicko" and given["interval"] != "none":
        raise UsageError(f"--interval {given['interval']} is for bradley-terry; glicko has a variance of its own")
    if is_given("resamples") and given["interval"] != "bootstrap":
        raise UsageError("--resamples is about --interval bootstrap, which was not asked for: leave it out")
    if is_given("each") and given["em"]:
        raise UsageError("--each: after --em a match is a pair with a probable score; leave it out")
    if files.gold is None:
        for name in ("rel", "per_query"):
            if is_given(name):
                raise UsageError(f"{_option(name)} is about gold labels; give them: --gold QRELS")


def _refuse_for_all(given: dict[str, Any], files: Files, targets: Targets) -> None:
    if given["em"]:
        raise UsageError("--method all has elo, glicko and bradley-terry with --em and without; leave it out")
    if targets.files:
        raise UsageError(f"{next(iter(targets.files))}: --method all compares methods; choose one to write its ratings")
    if files.gold is None and given["folds"] is None:
        raise UsageError("--method all compares the methods by what? Give --gold QRELS, --folds 10, or both")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
