"""Files in and out: every format is recognised from its content and can be forced with `form`."""

from ringtrue.files.formats import (
    FORMATS as FORMATS,
    Format as Format,
    TableKind as TableKind,
    recognise_kind as recognise_kind,
)
from ringtrue.files.json_files import (
    holds_matrix as holds_matrix,
    read_confusion as read_confusion,
    read_gains as read_gains,
    write_confusion as write_confusion,
    write_gains as write_gains,
)
from ringtrue.files.read import (
    read_documents as read_documents,
    read_judgments as read_judgments,
    read_preferences as read_preferences,
    read_run as read_run,
    read_topics as read_topics,
)
from ringtrue.files.write import write_table as write_table
