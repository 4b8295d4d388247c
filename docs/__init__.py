"""The pages of the site, and what makes them: `tables.py` the tables in them, `hooks.py` the site."""
