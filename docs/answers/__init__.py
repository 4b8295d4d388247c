"""The answers to the questions of docs/departures.md and docs/experiments.md, from committed records, by their rules.

A module for each question, whose heading is the module's docstring. The table `low-rate` of a page is made by `table`
of `low_rate`: it shows the numbers with what the rules say.

A rule is a function of numbers, so that a test can show what it says of any. It returns what it says as a list, which
is empty if it says nothing. The rule of a question is `answer`; further ones are named by what they ask. `read` takes
the numbers from a folder of results.

Four modules answer no question: `readings` shows numbers alone, `iwslt14` and `small_causes` have what several
questions share, and `bounds` what they share with the ledger.
"""
