"""What the pages say in numbers: the sentences, with what the records have in the place of each number."""
