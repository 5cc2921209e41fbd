"""What every command is asked that corrects by gold labels: which, how they were drawn, what the answer is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ringtrue.cli.options import common
from ringtrue.errors import DuplicateError, InputError, TableError, UsageError
from ringtrue.gold.designs import DESIGNS, Design

if TYPE_CHECKING:
    from ringtrue.cli.options.runs import RunInputs
    from ringtrue.files.byte_source import Source
    from ringtrue.gold.correction.results import Method
    from ringtrue.gold.correction.sampling_frame import SamplingFrame
    from ringtrue.gold.designs import Population
    from ringtrue.stats.confusion import Confusion
    from ringtrue.tables import Judgments


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldOptions:
    """The gold labels and what to do with them, as somebody asked."""

    gold: str | None
    design: Design | None
    method: Method | None
    population: Population
    bronze_rel: int | None
    frame: str | None
    gold_columns: tuple[str, ...]
    gold_where: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.gold is None:
            given = asdict(self) | {"population": common.is_given("population")}
            common.refuse_set(given, "is about correcting by gold labels, and there is no --gold FILE")

    def read_gold(self, run_inputs: RunInputs) -> Judgments | Confusion:
        """The gold labels, or a confusion matrix."""
        from ringtrue.cli.options.files import is_same_file
        from ringtrue.files import holds_matrix, read_confusion
        from ringtrue.files.byte_source import Source

        gold = str(self.gold)
        common.require_one_stdin([gold, run_inputs.judgments, *run_inputs.runs])
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
            common.parse_columns(self.gold_columns),
            common.parse_conditions(self.gold_where),
        )

    def correction_settings(self, gold: Judgments | Confusion, seed: int = 0) -> dict[str, Any]:
        """What `correct` and `compare_corrected` take beside the gold labels."""
        import numpy as np

        return {
            "design": self.design,
            "method": self.method,
            "population": self.population,
            "bronze_rel": self.bronze_rel,
            "sampling_frame": self._read_frame(gold),
            "rng": np.random.default_rng(seed),
        }

    def _read_frame(self, gold: Judgments | Confusion) -> SamplingFrame | None:
        """The sampling frame that was named; the one beside the file, where single documents were drawn."""
        from ringtrue.files.sampling_frames import find_frame, read_sampling_frame
        from ringtrue.gold.correction.gold_sample import FRAME_DESIGNS

        if self.frame is not None:
            return read_sampling_frame(self.frame)
        frame = getattr(gold, "frame", None)
        designs = {self.design} if frame is None or "design" not in frame.columns else set(frame["design"])
        beside = find_frame(str(self.gold))
        return read_sampling_frame(beside) if beside and designs <= {None, *FRAME_DESIGNS} else None

    def refuse_incompatible_settings(self, run_inputs: RunInputs) -> None:
        """Refuse what cannot go with correction."""
        refuse_uncorrectable_settings(run_inputs, "does not go with --gold: leave it out to correct by gold labels")

    def default_measures(self, gold: Judgments | Confusion, usual: Iterable[str]) -> tuple[str, ...]:
        """The measures where none is named."""
        from ringtrue.gold.correction.gold_sample import default_measures

        return default_measures(gold, usual, self.design, has_frame=self._read_frame(gold) is not None)


def refuse_uncorrectable_settings(run_inputs: RunInputs, why: str) -> None:
    """Refuse ways to evaluate for which nobody worked out a correction."""
    for spelling, is_set in (
        ("--judges average", run_inputs.judges == "average"),
        ("--compat", run_inputs.compat),
        ("--missing skip", run_inputs.missing == "skip"),
        ("--depth", run_inputs.depth),
        ("--collection-size", run_inputs.collection_size),
    ):
        if is_set:
            raise UsageError(f"{spelling} {why}")


def read_gold(
    source: Source, option: str, note: Callable[[str], None], columns: Mapping[str, str], where: Mapping[str, str]
) -> Judgments:
    """Gold labels, one for each document; what is wrong with them is told as of the file that `option` names."""
    from ringtrue.files import read_judgments
    from ringtrue.files.read import explain_duplicate

    try:
        labels = read_judgments(source, note=note, columns=columns, where=where, allow_blank=True)
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
        if "needs a column 'label'" in message:
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
        return common.prefix_options(message, "gold")
    shortened = re.sub(r"(, or say|; say what they are:|;) `?--(columns|where)\b.*", "", message)
    return message if shortened == message else f"{shortened}; {option} is what `ringtrue sample` wrote, with labels"


gold_options = common.compose(
    common.option("--gold FILE", "Trusted labels of a sample: the judgments are then bronze, and corrected."),
    common.option("--design", "How gold was drawn, if its column design does not say.", choices=tuple(DESIGNS)),
    common.option(
        "--method", "How to correct; chosen by the design if not said.", choices=["difference", "confusion", "gold"]
    ),
    common.population_option,
    common.bronze_rel_option,
    common.option("--frame FILE", "The sampling frame of the gold labels, if it is not beside them."),
    common.gold_selection_options,
    common.collect_as("gold_opts", GoldOptions),
)
