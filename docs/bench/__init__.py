"""What docs/placements-bench.md says by its rules, from committed records.

`models` is the bench, with the best four; `seeds` adds seeds 3 and 4 to it; `published` has the orders of other papers
beside it; `cost` has the time of an update; `depth`, `lower_rate` and `real_text` are what comes after it. Each
function of a rule takes numbers and returns an answer. `read` takes the numbers from a folder of results, and `table`
shows them with the answer. The page has the rules in words, and their dates.
"""
