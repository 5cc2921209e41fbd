"""What every command is asked that corrects by gold labels: which, how they were drawn, what the answer is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.options import Function, columns_of, conditions_of
from ringtrue.errors import InputError, UsageError

if TYPE_CHECKING:
    from ringtrue.cli.question import Question
    from ringtrue.confusion import Confusion
    from ringtrue.correction.designs import Design
    from ringtrue.correction.joint import Population
    from ringtrue.correction.task import Method
    from ringtrue.tables import Judgments

__all__ = ["Golding", "gold_options"]

BY_DOCUMENT = ("P@10", "DCG@10")
DESIGNS = ("pool_random", "pool_stratified", "whole_queries", "external", "known")


@dataclass(frozen=True, slots=True, kw_only=True)
class Golding:
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
            named = {"--design": self.design, "--method": self.method, "--population": self.population,
                     "--bronze-rel": self.bronze_rel, "--gold-columns": self.gold_columns,
                     "--gold-where": self.gold_where}  # fmt: skip
            for option, given in named.items():
                if given:
                    raise UsageError(f"{option} is about correcting by gold labels, and there is no --gold FILE")

    def read(self, question: Question) -> Judgments | Confusion:
        """The gold labels, or a confusion matrix."""
        from ringtrue.files import holds_matrix, read_confusion, read_judgments
        from ringtrue.files.source import Source

        source = Source(str(self.gold))
        if self.gold in (question.judgments, *question.runs) and not (self.gold_columns or self.gold_where):
            raise UsageError(f"{self.gold}: --gold is a file that was given as runs or judgments, too")
        if not source.is_stream and holds_matrix(source):
            return read_confusion(source)
        try:
            return read_judgments(source, note=question.notes.append, columns=columns_of(self.gold_columns),
                                  where=conditions_of(self.gold_where))  # fmt: skip
        except InputError as error:
            told = re.sub(r"--(columns|where)\b", r"--gold-\1", str(error))
            more = (
                "" if "label" not in told else " (a gold file is what `ringtrue sample` writes, with label filled in)"
            )
            raise type(error)(told + more) from error

    def settings(self) -> dict[str, Any]:
        """What `correct` and `compare_corrected` take."""
        import numpy as np

        return {
            "design": self.design,
            "method": self.method,
            "population": self.population or "like-these",
            "bronze_rel": self.bronze_rel,
            "rng": np.random.default_rng(self.gold_seed),
        }

    def require(self, question: Question) -> None:
        """Refuse what cannot go with correction."""
        for option, given in (("--judges average", question.judges == "average"), ("--compat", question.compat),
                              ("--missing skip", question.missing == "skip"), ("--depth", question.depth)):  # fmt: skip
            if given:
                raise UsageError(f"{option} does not go with --gold: leave it out to correct by gold labels")

    def usual(self, gold: Judgments | Confusion, usual: Iterable[str]) -> tuple[str, ...]:
        """The measures where none is named: gold labels of single documents serve only those that are sums."""
        from ringtrue.correction.designs import design_of
        from ringtrue.tables import Judgments

        whole = isinstance(gold, Judgments) and design_of(gold, self.design) == "whole_queries"
        return tuple(usual) if whole else BY_DOCUMENT


def gold_options(command: Function) -> Function:
    """`--gold` and what belongs to it; all of it reaches the command as `golding`."""

    @click.option("--gold", metavar="FILE",
                  help="Trusted labels of a sample: the judgments are then bronze, and corrected.")  # fmt: skip
    @click.option("--design", type=click.Choice(DESIGNS), help="How gold was drawn, if its column design does not say.")
    @click.option("--method", type=click.Choice(["difference", "confusion", "gold"]),
                  help="How to correct; chosen by the design if not said.")  # fmt: skip
    @click.option("--population", type=click.Choice(["these", "like-these"]),
                  help="What the interval is about: these queries, or queries like these (usual).")  # fmt: skip
    @click.option("--bronze-rel", type=click.IntRange(1, 2**31 - 1),
                  help="The lowest bronze label that counts as relevant; that of gold if not said.")  # fmt: skip
    @click.option("--gold-columns", multiple=True, metavar="NAME=COLUMN",
                  help="What the gold file calls a column: label=human.")  # fmt: skip
    @click.option("--gold-where", multiple=True, metavar="COLUMN=VALUE", help="Keep only these rows of the gold file.")
    @wraps(command)
    def with_golding(*args: object, **given: Any) -> object:
        asked = {one.name: given.pop(one.name) for one in fields(Golding) if one.name in given}
        asked.setdefault("gold_seed", given.get("seed", 0))
        return command(*args, golding=Golding(**asked), **given)

    return with_golding
