"""The public names and where they come from, for type checkers and for `__init__.py`, which loads them."""

from ringtrue._version import __version__ as __version__
from ringtrue.doctor import Checkup as Checkup, examine as examine
from ringtrue.errors import InputError as InputError, RingtrueError as RingtrueError, UsageError as UsageError
from ringtrue.evaluation.curves import curve as curve
from ringtrue.evaluation.evaluate import evaluate as evaluate
from ringtrue.evaluation.measures import Measure as Measure, parse as parse
from ringtrue.evaluation.significance import compare as compare, compare_by as compare_by, differences as differences
from ringtrue.evaluation.stability import (
    Flip as Flip,
    Stability as Stability,
    Standing as Standing,
    stability as stability,
)
from ringtrue.files import (
    read_confusion as read_confusion,
    read_documents as read_documents,
    read_gains as read_gains,
    read_judgments as read_judgments,
    read_preferences as read_preferences,
    read_run as read_run,
    read_topics as read_topics,
    write_confusion as write_confusion,
    write_table as write_table,
)
from ringtrue.gold.correction import (
    BronzeScore as BronzeScore,
    Check as Check,
    Correction as Correction,
    Rates as Rates,
    ScoreCorrection as ScoreCorrection,
    ScoreDifference as ScoreDifference,
    compare_corrected as compare_corrected,
    correct as correct,
    correct_score as correct_score,
)
from ringtrue.gold.planning import Plan as Plan, Plans as Plans, plan as plan
from ringtrue.gold.sampling import GoldDraw as GoldDraw, sample as sample, sample_queries as sample_queries
from ringtrue.judges.aggregation import (
    Aggregation as Aggregation,
    JudgeModel as JudgeModel,
    Prior as Prior,
    aggregate as aggregate,
)
from ringtrue.judges.agreement import (
    Agreement as Agreement,
    PairAgreement as PairAgreement,
    Period as Period,
    Transitivity as Transitivity,
    agree as agree,
    krippendorff_alpha as krippendorff_alpha,
)
from ringtrue.judges.ceiling import (
    Ceiling as Ceiling,
    CeilingScatter as CeilingScatter,
    QueryConfusions as QueryConfusions,
    RunCeiling as RunCeiling,
    ceiling as ceiling,
    ceiling_scatter as ceiling_scatter,
    estimate_confusion as estimate_confusion,
    estimate_query_confusions as estimate_query_confusions,
)
from ringtrue.judges.disagreement import (
    Disagreement as Disagreement,
    MutualEvaluation as MutualEvaluation,
    disagree as disagree,
    mutual_evaluation as mutual_evaluation,
)
from ringtrue.judges.quality import (
    Flag as Flag,
    JudgeQuality as JudgeQuality,
    JudgeReport as JudgeReport,
    judge_quality as judge_quality,
)
from ringtrue.messages import Note as Note, Suggestion as Suggestion
from ringtrue.preference import (
    HeldOut as HeldOut,
    JudgeRating as JudgeRating,
    MethodScores as MethodScores,
    PairChoice as PairChoice,
    RatingComparison as RatingComparison,
    Ratings as Ratings,
    choose_pairs as choose_pairs,
    compare_ratings as compare_ratings,
    implied_preferences as implied_preferences,
    rate as rate,
)
from ringtrue.report import Figure as Figure, Report as Report, Section as Section, report as report
from ringtrue.stats.confusion import Confusion as Confusion
from ringtrue.stats.results import (
    Comparison as Comparison,
    Comparisons as Comparisons,
    Curve as Curve,
    Curves as Curves,
    Estimate as Estimate,
)
from ringtrue.tables import Judgments as Judgments, Preferences as Preferences, Run as Run, Scores as Scores
