"""Responsive Grids: EGEE, VRes, DIANE, gPTM3D."""
