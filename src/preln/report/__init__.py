"""From the records of what is done to figures, tables, the ledger of claims, and the page of a study."""
