"""RR-7959: DIET-ethic."""
