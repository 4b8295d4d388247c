"""Records that tests make up, of each kind of job that a study has."""
