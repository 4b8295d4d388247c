"""One of the processes that train a run together: `torchrun` starts it with the description of the job."""

import json
import sys
from pathlib import Path

from preln.fairseq_plugin.launch import Job, work

if __name__ == "__main__":
    work(Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
