"""Archives of texts."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path


def tar(path: Path, texts: Mapping[str, str]) -> Path:
    """A compressed tar archive of texts by their names."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path
