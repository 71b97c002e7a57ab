"""Pictures of a search: matplotlib's, and the page."""
