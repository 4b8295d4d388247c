"""The only package that knows fairseq, which is used through its `--user-dir` extension points."""

import logging

# When it is imported, fairseq turns on every line of every log. A task of speech, which nothing here uses, then asks to
# have tensorboardX installed. Its warnings are still told.
logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)
