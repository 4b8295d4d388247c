"""The vocabulary of rules: records, series of runs, comparisons, and the ledger."""
