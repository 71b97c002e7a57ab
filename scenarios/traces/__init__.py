"""What is done with the jobs of a trace: summing up, warning, turning them into sessions or other jobs."""
