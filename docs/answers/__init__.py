"""The answers to the questions of docs/departures.md and docs/experiments.md, from committed records, by their rules.

A module for each question. Its rule, `answer`, is a function of numbers, so that a test can show what it says of any.
It returns what it says as a list, which is empty if it says nothing.
`read` takes the numbers from a folder of results. `table` shows them with the answer, for the page. Two modules have no
rule: `readings`, which shows numbers alone, and `iwslt14`, which has what several questions share.
"""
