"""The tables that everything else reads: thin, checked wrappers over Polars frames."""

from ringtrue.tables.judgments import Judgments as Judgments
from ringtrue.tables.preferences import Preferences as Preferences
from ringtrue.tables.run import Run as Run
from ringtrue.tables.scores import Scores as Scores
