"""What reports of every subject are made with: labels, styles, statistics, and the saving of a figure."""
