"""Still pictures: SVG of the same figures that Plotly draws, for paper, for narrow screens, and where no script runs."""
