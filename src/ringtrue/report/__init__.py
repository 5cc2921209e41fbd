"""Everything on one page: numbers and sentences first, then pictures of them."""

from ringtrue.report.build import report
from ringtrue.report.model import Figure, Report, Section

__all__ = ["Figure", "Report", "Section", "report"]
