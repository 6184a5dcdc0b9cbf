"""One frozen summary becomes one self-contained HTML file."""

from orchestrator.report.render import default_path, path_of, render, report_of, write_report

__all__ = ["default_path", "path_of", "render", "report_of", "write_report"]
