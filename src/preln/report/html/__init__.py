"""The report of a study: one HTML page that needs no network."""
