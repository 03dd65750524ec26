"""Measurements of speed and quality against other libraries; not part of the package."""
