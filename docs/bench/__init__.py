"""What docs/placements-bench.md says by its rules, from committed records.

`models` is the bench, with the best four; `published` the orders of other papers beside it; `depth` and `real_text`
what comes after it. Each function of a rule takes numbers and returns an answer. `read` takes the numbers from a folder
of results, and `table` shows them with the answer. The page has the rules in words, and their dates.
"""
