"""Real OAR schedules on Grid'5000."""
