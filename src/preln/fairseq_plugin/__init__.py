"""The only package that knows fairseq, which is used through its `--user-dir` extension points."""

import logging

# Importing fairseq enables every log level. An unused speech task then asks at level INFO for tensorboardX. Warnings
# still appear.
logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)
