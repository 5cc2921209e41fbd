"""Everything on one page: numbers and sentences first, then pictures of them."""

from ringtrue.report.build import report as report
from ringtrue.report.model import Figure as Figure, Report as Report, Section as Section
