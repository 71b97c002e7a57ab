"""hal-04101015: BatCiGri."""
