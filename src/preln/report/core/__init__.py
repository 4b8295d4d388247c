"""The parts of reports on every subject: labels, styles, statistics, and the saving of a figure."""
