"""What is on disk: files, records, and where they came from."""
