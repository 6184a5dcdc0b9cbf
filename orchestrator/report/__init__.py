"""One frozen summary becomes one self-contained HTML file.

`write_report` is all that the rest of the program needs; `page.render_page` is for other pages in the same style.
"""

from orchestrator.report.render import default_path, path_of, render, write_report

__all__ = ["default_path", "path_of", "render", "write_report"]
