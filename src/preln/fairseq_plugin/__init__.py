"""The only room that knows fairseq, which is used through its `--user-dir` extension points."""
