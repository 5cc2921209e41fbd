"""What every command is asked that corrects by gold labels: which, how they were drawn, what the answer is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.options.common import Function, parse_columns, parse_conditions
from ringtrue.errors import DuplicateError, InputError, TableError, UsageError
from ringtrue.gold.designs import DESIGNS, Design

if TYPE_CHECKING:
    from ringtrue.cli.options.runs import RunInputs
    from ringtrue.files.byte_source import Source
    from ringtrue.gold.correction.estimator import Method
    from ringtrue.gold.designs import Population
    from ringtrue.stats.confusion import Confusion
    from ringtrue.tables import Judgments


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldOptions:
    """The gold labels and what to do with them, as somebody asked."""

    gold: str | None
    design: Design | None
    method: Method | None
    population: Population | None
    bronze_rel: int | None
    gold_columns: tuple[str, ...]
    gold_where: tuple[str, ...]
    gold_seed: int

    def __post_init__(self) -> None:
        if self.gold is None:
            gold_settings = {
                "--design": self.design,
                "--method": self.method,
                "--population": self.population,
                "--bronze-rel": self.bronze_rel,
                "--gold-columns": self.gold_columns,
                "--gold-where": self.gold_where,
            }
            for option, setting in gold_settings.items():
                if setting:
                    raise UsageError(f"{option} is about correcting by gold labels, and there is no --gold FILE")

    def read_gold(self, run_inputs: RunInputs) -> Judgments | Confusion:
        """The gold labels, or a confusion matrix."""
        from ringtrue.cli.options.files import is_same_file
        from ringtrue.files import holds_matrix, read_confusion
        from ringtrue.files.byte_source import Source

        gold = str(self.gold)
        if gold == "-" and "-" in (run_inputs.judgments, *run_inputs.runs):
            raise UsageError("standard input (-) can be read only once; put one of the two into a file")
        if not (self.gold_columns or self.gold_where):
            if is_same_file(gold, run_inputs.judgments):
                raise UsageError(
                    f"{gold}: --gold is the file of the judgments, and bronze would always be right; give another, or "
                    f"say which of its columns or rows are gold (--gold-columns label=NAME, --gold-where COLUMN=VALUE)"
                )
            if any(is_same_file(gold, run) for run in run_inputs.runs):
                raise UsageError(f"{gold}: --gold is one of the runs; gold is a file with labels")
        source = Source(gold)
        if holds_matrix(source):
            if self.gold_columns or self.gold_where:
                option = "--gold-columns" if self.gold_columns else "--gold-where"
                raise UsageError(f"{option}: {gold} is a confusion matrix, which has no columns; leave it out")
            confusion = read_confusion(source)
            if (confusion.rows, confusion.columns) not in (("gold", "bronze"), ("testing judge", "training judge")):
                run_inputs.notes.append(
                    f"{gold} is the matrix of '{confusion.columns}' given '{confusion.rows}': it corrects the labels "
                    f"of '{confusion.columns}', and no others"
                )
            return confusion
        return read_gold(
            source,
            "--gold",
            run_inputs.notes.append,
            parse_columns(self.gold_columns),
            parse_conditions(self.gold_where),
        )

    def correction_settings(self) -> dict[str, Any]:
        """What `correct` and `compare_corrected` take."""
        import numpy as np

        return {
            "design": self.design,
            "method": self.method,
            "population": self.population or "like-these",
            "bronze_rel": self.bronze_rel,
            "rng": np.random.default_rng(self.gold_seed),
        }

    def refuse_incompatible_settings(self, run_inputs: RunInputs) -> None:
        """Refuse what cannot go with correction."""
        refuse_uncorrectable_settings(run_inputs, "does not go with --gold: leave it out to correct by gold labels")

    def default_measures(self, gold: Judgments | Confusion, usual: Iterable[str]) -> tuple[str, ...]:
        """The measures where none is named."""
        from ringtrue.gold.correction.gold_sample import default_measures

        return default_measures(gold, usual, self.design)


def refuse_uncorrectable_settings(run_inputs: RunInputs, why: str) -> None:
    """Refuse ways to evaluate for which nobody worked out a correction."""
    for option, is_set in (
        ("--judges average", run_inputs.judges == "average"),
        ("--compat", run_inputs.compat),
        ("--missing skip", run_inputs.missing == "skip"),
        ("--depth", run_inputs.depth),
        ("--collection-size", run_inputs.collection_size),
    ):
        if is_set:
            raise UsageError(f"{option} {why}")


def read_gold(
    source: Source, option: str, note: Callable[[str], None], columns: Mapping[str, str], where: Mapping[str, str]
) -> Judgments:
    """Gold labels, one for each document; what is wrong with them is told as of the file that `option` names."""
    from ringtrue.files import read_judgments
    from ringtrue.files.read import explain_duplicate

    label_column = columns.get("label", "label")
    try:
        labels = read_judgments(source, note=note, columns=columns, where=where)
        labels.require_one_label_each()
    except DuplicateError as error:
        message = str(explain_duplicate(error, source.path, columns=columns, where=where))
        has_several_judges = error.judge is None and option == "--gold"
        advice = (
            "choose one judge (--gold-where judge=NAME)"
            if has_several_judges
            else "gold says one thing of each: keep one"
        )
        raise InputError(re.sub(r"(keep one of them|choose one judge) .*?\)(?= \(|$)", advice, message)) from error
    except TableError as error:
        message = str(error)
        if empty_label := re.search(r"(row [\d,]+): column 'label' is empty(, as in [^;]+)?;", message):
            message = (
                f"{source.display_name}: {empty_label[1]}: no gold label in column "
                f"'{label_column}'{empty_label[2] or ''}; gold has to judge all "
                f"that was drawn, or the answer is biased"
            )
            if option == "--gold":
                message += f" (rows that were never drawn can be left out: --gold-where {label_column}!=)"
        elif "needs a column 'label'" in message:
            message = (
                f"{source.display_name}: expected a column label with what gold says; "
                f"{message[message.index('found') :]}"
            )
            message = (
                f"{message.split('. Rename')[0]}. Fill it in: {option} is what `ringtrue sample` wrote, with labels"
            )
        raise TableError(_rephrase_for_option(message, option)) from error
    except (InputError, UsageError) as error:
        raise type(error)(_rephrase_for_option(str(error), option)) from error
    return labels


def _rephrase_for_option(message: str, option: str) -> str:
    """An error in the words of the option: the file of --gold has --gold-columns and --gold-where, others have none."""
    if option == "--gold":
        return re.sub(r"--(columns|where)\b", r"--gold-\1", message)
    shortened = re.sub(r"(, or say|; say what they are:|;) `?--(columns|where)\b.*", "", message)
    return message if shortened == message else f"{shortened}; {option} is what `ringtrue sample` wrote, with labels"


def gold_options(command: Function) -> Function:
    """`--gold` and what belongs to it; all of it reaches the command as `gold_opts`."""

    @click.option(
        "--gold", metavar="FILE", help="Trusted labels of a sample: the judgments are then bronze, and corrected."
    )
    @click.option(
        "--design", type=click.Choice(tuple(DESIGNS)), help="How gold was drawn, if its column design does not say."
    )
    @click.option(
        "--method",
        type=click.Choice(["difference", "confusion", "gold"]),
        help="How to correct; chosen by the design if not said.",
    )
    @click.option(
        "--population",
        type=click.Choice(["these", "like-these"]),
        help="What the interval is about: these queries, or queries like these (usual).",
    )
    @click.option(
        "--bronze-rel",
        type=click.IntRange(1, 2**31 - 1),
        help="The lowest bronze label that counts as relevant; that of gold if not said.",
    )
    @click.option(
        "--gold-columns", multiple=True, metavar="NAME=COLUMN", help="What the gold file calls a column: label=human."
    )
    @click.option("--gold-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of the gold file.")
    @wraps(command)
    def with_gold_options(*args: object, **options: Any) -> object:
        own_options = {
            option.name: options.pop(option.name) for option in fields(GoldOptions) if option.name in options
        }
        own_options.setdefault("gold_seed", options.get("seed", 0))
        return command(*args, gold_opts=GoldOptions(**own_options), **options)

    return with_gold_options
