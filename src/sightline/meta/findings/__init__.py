"""Metrics against people's ratings, told: in words and cells, as a page, in files."""
