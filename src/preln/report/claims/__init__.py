"""The verdict on each of the paper's claims, from a study's records."""
