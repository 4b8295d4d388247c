"""What turns a run into curve.csv and metrics.json."""
