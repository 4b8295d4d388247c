"""From the records of finished runs to the paper's figures and the table of runs."""
