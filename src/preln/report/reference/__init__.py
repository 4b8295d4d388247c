"""The paper's numbers as data: a module with its table for each kind of number, and its errata.

The paper has no table of results: its numbers are in the text and in the curves. Each is held with how it is known:

- `printed`: the exact number stands in the text;
- `stated`: the text gives it in round words, such as "around 34";
- `digitised`: measured in the figure of the paper;
- `read-off`: judged by eye from the figure, or hidden behind another curve there.
"""
