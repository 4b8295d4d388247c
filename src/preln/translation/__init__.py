"""Translation runs: training, curves, metrics, and translating with trained models."""
