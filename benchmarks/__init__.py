"""Speed beside that of others: `make bench` runs everything, README.md says what it came to."""
