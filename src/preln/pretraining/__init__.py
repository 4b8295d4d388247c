"""Pre-training and fine-tuning: from runs to curves and metrics, and from checkpoints to scores on tasks."""
