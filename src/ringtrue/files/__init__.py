"""Files in and out: every format is recognised from its content and can be forced with `form`."""

from ringtrue.files.confusion_matrices import holds_matrix, read_confusion, write_confusion
from ringtrue.files.formats import FORMATS, Format, TableKind, recognise_kind
from ringtrue.files.gains import read_gains, write_gains
from ringtrue.files.read import read_documents, read_judgments, read_preferences, read_run, read_topics
from ringtrue.files.write import write_table

__all__ = [
    "FORMATS",
    "Format",
    "TableKind",
    "holds_matrix",
    "read_confusion",
    "read_documents",
    "read_gains",
    "read_judgments",
    "read_preferences",
    "read_run",
    "read_topics",
    "recognise_kind",
    "write_confusion",
    "write_gains",
    "write_table",
]
