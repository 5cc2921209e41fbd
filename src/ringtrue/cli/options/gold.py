"""What every command is asked that corrects by gold labels: which, how they were drawn, what the answer is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.errors import DuplicateError, InputError, UsageError
from ringtrue.gold.designs import DESIGNS, Design
from ringtrue.messages import Note, Suggestion

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
                raise OptionError(
                    "gold-is-bronze",
                    "--gold is the file of the judgments, and bronze would always be right; give another, or "
                    "say which of its columns or rows are gold (--gold-columns label=NAME, --gold-where COLUMN=VALUE)",
                    parameter="gold",
                    file=gold,
                )
            if any(is_same_file(gold, run) for run in run_inputs.runs):
                raise OptionError(
                    "other-kind", "--gold is one of the runs; gold is a file with labels", parameter="gold", file=gold
                )
        source = Source(gold)
        if holds_matrix(source):
            if self.gold_columns or self.gold_where:
                parameter = "gold_columns" if self.gold_columns else "gold_where"
                raise OptionError(
                    "unused-parameter",
                    f"{common.option_name(parameter)}: {gold} is a confusion matrix, which has no columns; "
                    "leave it out",
                    parameter=parameter,
                )
            confusion = read_confusion(source)
            if (confusion.rows, confusion.columns) not in (("gold", "bronze"), ("testing judge", "training judge")):
                text = (
                    f"{gold} is the matrix of '{confusion.columns}' given '{confusion.rows}': it corrects the labels "
                    f"of '{confusion.columns}', and no others"
                )
                run_inputs.notes.append(Note("matrix-of-others", text, parameter="gold"))
            return confusion
        return read_gold(
            source,
            "--gold",
            run_inputs.notes.append,
            common.parse_columns(self.gold_columns, "gold_columns"),
            common.parse_conditions(self.gold_where, "gold_where"),
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
    for spelling, name, is_set in (
        ("--judges average", "judges", run_inputs.judges == "average"),
        ("--compat", "compat", run_inputs.compat),
        ("--missing skip", "missing", run_inputs.missing == "skip"),
        ("--depth", "depth", run_inputs.depth),
        ("--collection-size", "collection_size", run_inputs.collection_size),
    ):
        if is_set:
            raise OptionError("conflicting-parameters", f"{spelling} {why}", parameter=name)


def read_gold(
    source: Source, option: str, note: Callable[[Note], None], columns: Mapping[str, str], where: Mapping[str, str]
) -> Judgments:
    """Gold labels, one for each document; what is wrong with them is told as of the file that `option` names."""
    from ringtrue.files import read_judgments
    from ringtrue.files.read import explain_duplicate

    try:
        labels = read_judgments(source, note=note, columns=columns, where=where, allow_blank=True)
        labels.require_one_label_each()
    except DuplicateError as error:
        located = explain_duplicate(error, source.path, columns=columns, where=where)
        one_judge = Suggestion("chooses one judge", gold_where={"judge": "NAME"})
        has_several_judges = error.judge is None and option == "--gold"
        note_of_gold = located.note.changed(suggestions=[one_judge] if has_several_judges else ())
        raise InputError.of(note_of_gold, file=located.file) from error
    except (InputError, UsageError) as error:
        raise _name_own_options(error, option) from error
    return labels


def _name_own_options(error: common.ErrorT, option: str) -> common.ErrorT:
    """An error by the options of the file: that of --gold has --gold-columns and --gold-where, others have none."""
    if option == "--gold":
        error = common.use_own_options(error, "gold")
    elif error.note.suggestions:
        error = error.with_note(error.note.renamed(dict.fromkeys(("columns", "where"))))
    if error.code == "missing-column" or (option != "--gold" and error.code == "empty-cell"):
        text = f"{error.text}; {option} is what `ringtrue sample` wrote, with labels"
        error = error.with_note(error.note.changed(text=text, suggestions=()))
    return error


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
