"""`ringtrue simulate`."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options.common import Command, is_given, level_option, option, output_options, seed_option
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.cli.studies import Number, Study, StudyParameters, correction, preferences, real_judges
from ringtrue.errors import did_you_mean
from ringtrue.formatting.grid import Grid

# A study is a line here and a function from what was asked to what is shown.
STUDIES: dict[str, Study] = {
    "real": Study(
        summary="Correction by gold labels drawn again and again from real collections.",
        run=real_judges.study_real_judges,
        options=("replications", "level", "data"),
        replications=2_000,
        settings=real_judges.REAL_JUDGE_SETTINGS,
    ),
    "goldberg": Study(
        summary="The published simulation: P@10 by a judge who errs, as it is and corrected.",
        run=correction.study_goldberg,
        settings=correction.GOLDBERG_SETTINGS,
    ),
    "rates": Study(
        summary="Intervals of scores corrected by a judge's rates, over 1,560 worlds.",
        run=correction.study_rates,
        replications=5_000,
        settings=correction.RATE_SETTINGS,
    ),
    "like-these": Study(
        summary="Intervals of scores corrected by gold labels, for these queries and for queries like these.",
        run=correction.study_like_these,
        replications=500,
        settings=correction.LIKE_THESE_SETTINGS,
    ),
    "comparing": Study(
        summary="Tests between two systems with a judge who errs: false alarms, and differences found.",
        run=correction.study_comparisons,
        replications=2_000,
        settings=correction.COMPARISON_SETTINGS,
    ),
    "plan": Study(
        summary="Plans carried out: do the planned numbers achieve what was asked?",
        run=correction.study_plans,
        options=("replications",),
        replications=1_000,
    ),
    "preferences": Study(
        summary="Ratings from votes of a crowd: which method, which pairs to ask, and do intervals hold?",
        run=preferences.study_preferences,
        replications=16,
        settings=preferences.PREFERENCE_SETTINGS,
    ),
}


@click.command("simulate", cls=Command)
@click.argument("name", required=False)
@option("--replications", "How many experiments of each kind.", type=click.IntRange(1, 100_000_000))
@level_option
@option("--data DIR", "A folder with real data; may be repeated.", multiple=True)
@option(
    "--set NAME=NUMBER",
    "Something else about the world; the list of studies names what each has.",
    to="settings",
    multiple=True,
)
@seed_option
@output_options
def command(
    name: str | None,
    replications: int | None,
    level: float,
    data: tuple[str, ...],
    settings: tuple[str, ...],
    seed: int,
    form: OutputFormat,
) -> None:
    """Do the intervals and tests keep their promise?

    Runs a study in worlds where the truth is known. Without NAME, lists the studies.
    """
    given_level = level if is_given("level") else None
    study_options = {"replications": replications, "level": given_level, "data": data, "set": settings}
    if name is None:
        _print_studies(form, [option for option, setting in study_options.items() if setting])
        return
    if name not in STUDIES:
        suggestion = did_you_mean(name, STUDIES) or f"; there is {', '.join(STUDIES)}"
        raise OptionError("unknown-study", f"no study '{name}'{suggestion}", parameter="name")
    study = STUDIES[name]
    for option_taken, setting in study_options.items():
        if setting and option_taken not in (*study.options, "set"):
            raise OptionError(
                "unused-parameter",
                f"simulate {name} takes no --{option_taken}; it takes {_describe_options(study)}",
                parameter=option_taken,
            )
    parameters = StudyParameters(
        seed=seed,
        replications=replications or study.replications,
        level=level,
        folders=data,
        settings={**study.settings, **_parse_settings(name, study.settings, settings)},
    )
    output = study.run(parameters)
    emit(
        form,
        notes=output.notes,
        payload={"study": name, **output.payload, "seed": seed},
        grid=output.grids,
        csv_grid=output.csv_grid,
    )
    if form == "table" and output.plot:
        click.echo(f"\n{output.plot}")


def _print_studies(form: OutputFormat, given_options: list[str]) -> None:
    if given_options:
        raise OptionError(
            "needs-parameter",
            f"--{given_options[0]} of which study? Name one of {', '.join(STUDIES)}",
            parameter="name",
        )
    payload = {
        "studies": [
            {"name": name, "says": study.summary, "takes": list(study.options), "settings": dict(study.settings)}
            for name, study in STUDIES.items()
        ]
    }
    rows = [[name, study.summary] for name, study in STUDIES.items()]
    lines = [
        fill(f"{name} takes {_describe_options(study)}", 100, subsequent_indent="  ") for name, study in STUDIES.items()
    ]
    emit(
        form,
        payload=payload,
        grid=Grid(columns=["study", "what it looks at"], rows=rows, left=2, caption="\n".join(["", *lines])),
    )


def _describe_options(study: Study) -> str:
    options = ", ".join(f"--{option}" for option in (*study.options, "seed"))
    settings = " ".join(f"{name}={value:g}" for name, value in study.settings.items())
    return f"{options}" + (f", and --set {settings}" if settings else "")


def _parse_settings(study: str, defaults: Mapping[str, Number], texts: tuple[str, ...]) -> dict[str, Number]:
    """`--set queries=100` as a dictionary, each number of the kind that the study has."""
    settings: dict[str, Number] = {}
    for word in texts:
        name, equals, number_text = (part.strip() for part in word.partition("="))
        if not equals or not number_text:
            raise OptionError(
                "bad-value",
                f"--set expects name=number, such as --set {next(iter(defaults), 'queries')}=1; found '{word}'",
                parameter="set",
            )
        if name not in defaults:
            suggestion = did_you_mean(name, defaults) or f"; there is {', '.join(defaults) or 'nothing to set'}"
            raise OptionError(
                "unknown-setting", f"--set {word}: simulate {study} has no '{name}'{suggestion}", parameter="set"
            )
        kind = type(defaults[name])
        try:
            settings[name] = kind(number_text)
        except ValueError:
            expected = "a whole number" if kind is int else "a number"
            raise OptionError(
                "bad-value", f"--set {word}: expected {expected}, found '{number_text}'", parameter="set"
            ) from None
    return settings
