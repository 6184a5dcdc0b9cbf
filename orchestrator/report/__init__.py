"""One frozen summary becomes one self-contained HTML file."""
