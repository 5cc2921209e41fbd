"""Everything on one page: numbers and sentences first, then pictures of them."""

from ringtrue.reporting.content import Figure, Report, Section
from ringtrue.reporting.making import report

__all__ = ["Figure", "Report", "Section", "report"]
