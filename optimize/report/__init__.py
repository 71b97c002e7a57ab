"""What a search found, from one data frame: text, CSV, LaTeX, JSON, a page, pictures."""
