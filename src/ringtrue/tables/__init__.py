"""The tables that everything else reads: thin, checked wrappers over Polars frames."""

from ringtrue.tables.judgments import Judgments
from ringtrue.tables.preferences import Preferences
from ringtrue.tables.run import Run
from ringtrue.tables.scores import Scores

__all__ = ["Judgments", "Preferences", "Run", "Scores"]
