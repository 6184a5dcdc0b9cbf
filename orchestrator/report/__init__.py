"""One frozen summary becomes one self-contained HTML file.

`write_report` is all that the rest of the program needs; `page.render_page` is for other pages in the same style.
"""

from orchestrator.report.render import file_name, render, write_report

__all__ = ["file_name", "render", "write_report"]
