"""What rules are written with: records, series of runs, comparisons, and the ledger."""
