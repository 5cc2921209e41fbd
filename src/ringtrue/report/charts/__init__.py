"""Figures as pictures: SVG for the page, SVG, PNG or PDF for papers."""
