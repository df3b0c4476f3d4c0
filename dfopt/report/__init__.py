"""Reports to send around: one file of HTML about one trace."""

from dfopt.report.page import check_packages, report_page

__all__ = ["check_packages", "report_page"]
