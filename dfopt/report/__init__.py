"""Reports to send around: one file of HTML about one trace."""

from dfopt.report.packages import check_packages
from dfopt.report.page import report_page

__all__ = ["check_packages", "report_page"]
