"""`ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill

import click

from ringtrue.cli.options.common import Command, output_options
from ringtrue.cli.output import Grid, OutputFormat, emit, tell
from ringtrue.cli.studies import correction, plans, preferences, rates, real_judges
from ringtrue.cli.studies.study import Asked, Number, Study
from ringtrue.errors import UsageError, did_you_mean

__all__ = ["command"]

# A study is a line here and a function from what was asked to what is shown.
STUDIES: dict[str, Study] = {
    "real": Study(
        says="Correction by gold labels drawn again and again from real collections.",
        run=real_judges.real,
        takes=("replications", "level", "data"),
        replications=2_000,
        settings=real_judges.REAL,
    ),
    "goldberg": Study(
        says="The published simulation: P@10 by a judge who errs, as it is and corrected.",
        run=rates.goldberg,
        settings=rates.GOLDBERG,
    ),
    "rates": Study(
        says="Intervals of scores corrected by a judge's rates, over 1,560 worlds.",
        run=rates.rates,
        replications=5_000,
        settings=rates.RATES,
    ),
    "like-these": Study(
        says="Intervals of scores corrected by gold labels, for these queries and for queries like these.",
        run=correction.like_these,
        replications=500,
        settings=correction.LIKE_THESE,
    ),
    "comparing": Study(
        says="Tests between two systems with a judge who errs: false alarms, and differences found.",
        run=correction.comparing,
        replications=2_000,
        settings=correction.COMPARING,
    ),
    "plan": Study(
        says="Plans carried out: do the planned numbers achieve what was asked?",
        run=plans.planned,
        takes=("replications",),
        replications=1_000,
    ),
    "preferences": Study(
        says="Ratings from votes of a crowd: which method, which pairs to ask, and do intervals hold?",
        run=preferences.preferences,
        replications=16,
        settings=preferences.PREFERENCES,
    ),
}


@click.command("simulate", cls=Command)
@click.argument("name", required=False)
@click.option("--replications", type=click.IntRange(1, 100_000_000), help="How many experiments of each kind.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True),
              help="What the intervals promise; 0.95 if not said.")  # fmt: skip
@click.option("--data", multiple=True, metavar="DIR", help="A folder with real data; may be repeated.")
@click.option("--set", "settings", multiple=True, metavar="NAME=NUMBER",
              help="Something else about the world; the list of studies names what each has.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other draws.")
@output_options
def command(
    name: str | None,
    replications: int | None,
    level: float | None,
    data: tuple[str, ...],
    settings: tuple[str, ...],
    seed: int,
    form: OutputFormat,
) -> None:
    """Do the intervals and tests keep their promise?

    Runs a study in worlds where the truth is known. Without NAME, lists the studies.
    """
    given = {"replications": replications, "level": level, "data": data, "set": settings}
    if name is None:
        _list(form, [option for option, value in given.items() if value])
        return
    if name not in STUDIES:
        near = did_you_mean(name, STUDIES) or f"; there is {', '.join(STUDIES)}"
        raise UsageError(f"no study '{name}'{near}")
    study = STUDIES[name]
    for option, value in given.items():
        if value and option not in (*study.takes, "set"):
            raise UsageError(f"simulate {name} takes no --{option}; it takes {_options(study)}")
    asked = Asked(
        seed=seed,
        replications=replications or study.replications,
        level=level or 0.95,
        data=data,
        settings={**study.settings, **_settings(name, study.settings, settings)},
    )
    shown = study.run(asked)
    tell(shown.notes)
    emit(form, data={"study": name, **shown.data, "seed": seed, "notes": list(shown.notes)}, grid=shown.grids,
         flat=shown.flat)  # fmt: skip
    if form == "table" and shown.picture:
        click.echo(f"\n{shown.picture}")


def _list(form: OutputFormat, given: list[str]) -> None:
    if given:
        raise UsageError(f"--{given[0]} of which study? Name one of {', '.join(STUDIES)}")
    data = {"studies": [{"name": name, "says": one.says, "takes": list(one.takes), "settings": dict(one.settings)}
                        for name, one in STUDIES.items()]}  # fmt: skip
    rows = [[name, one.says] for name, one in STUDIES.items()]
    lines = [fill(f"{name} takes {_options(one)}", 100, subsequent_indent="  ") for name, one in STUDIES.items()]
    emit(form, data=data, grid=Grid(columns=["study", "what it looks at"], rows=rows, left=2,
                                    caption="\n".join(["", *lines])))  # fmt: skip


def _options(study: Study) -> str:
    options = ", ".join(f"--{option}" for option in (*study.takes, "seed"))
    settings = " ".join(f"{name}={value:g}" for name, value in study.settings.items())
    return f"{options}" + (f", and --set {settings}" if settings else "")


def _settings(study: str, known: Mapping[str, Number], given: tuple[str, ...]) -> dict[str, Number]:
    """`--set queries=100` as a dictionary, each number of the kind that the study has."""
    found: dict[str, Number] = {}
    for word in given:
        name, equals, value = (part.strip() for part in word.partition("="))
        if not equals or not value:
            raise UsageError(
                f"--set expects name=number, such as --set {next(iter(known), 'queries')}=1; found '{word}'"
            )
        if name not in known:
            near = did_you_mean(name, known) or f"; there is {', '.join(known) or 'nothing to set'}"
            raise UsageError(f"--set {word}: simulate {study} has no '{name}'{near}")
        kind = type(known[name])
        try:
            found[name] = kind(value)
        except ValueError:
            expected = "a whole number" if kind is int else "a number"
            raise UsageError(f"--set {word}: expected {expected}, found '{value}'") from None
    return found
