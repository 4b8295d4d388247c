"""Benchmarks against other toolkits: `make bench` runs them all, and README.md has the results."""
