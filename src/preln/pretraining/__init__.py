"""What turns a pre-training run into curve.csv and metrics.json, and its checkpoints into scores of tasks."""
