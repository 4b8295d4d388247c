"""Files and records on disk, and where they came from."""
