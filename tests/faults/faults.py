"""Faults: a process is killed or asked to stop; a file is damaged, missing or foreign; the disk is full or read-only; a
killed process has left files. The scene's random choices decide the rest."""

import contextlib
import os
import pickle
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import torch

from tests.faults.scenes import EXECUTED, Scene

# Interruptions


def killed(scene: Scene, number: int = signal.SIGKILL) -> None:
    """The command is killed on its way, one to four times."""
    times = scene.random.randint(1, 4)
    for _ in range(times):
        job = scene.start()
        scene.wait_on_the_way(job, share=1 / times)
        scene.interrupt(job, number)


def killed_as_a_file_appears(scene: Scene) -> None:
    """The command is killed as soon as one of its files appears, whole or in part."""
    done = scene.undisturbed.done
    file = scene.random.choice(sorted(done.glob(f"{scene.subject.step.place}/**/*.*"))).relative_to(done)
    job = scene.start()
    job.wait(lambda: any(scene.workspace.glob(f"{file.parent}/*{file.stem}*")))
    scene.interrupt(job)


def asked_to_stop(scene: Scene) -> None:
    """The command gets a signal to stop, as from Slurm."""
    killed(scene, scene.random.choice([signal.SIGTERM, signal.SIGUSR1]))


def called_twice(scene: Scene) -> None:
    """The command is called a second time while it works, and the first one is killed."""
    first = scene.start()
    scene.wait_on_the_way(first, share=0.5)
    second = scene.start()
    scene.interrupt(first)
    scene.heed(second)


# Files


def flip(path: Path, random: Random) -> None:
    content = bytearray(path.read_bytes() or b"\0")
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def cut(path: Path, random: Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: random.randrange(max(1, len(content)))])


def not_utf8(path: Path, random: Random) -> None:
    """Insert bytes that are not UTF-8."""
    content = path.read_bytes()
    place = random.randrange(len(content) + 1)
    path.write_bytes(content[:place] + b"\xff\xfe\x80" + content[place:])


OTHER_JSON = ["5", "null", "[]", "{}", '"text"', '{"epoch": 1}', '[{"updates": 3}]']
DAMAGES: dict[str, Callable[[Path, Random], object]] = {
    "a flipped bit": flip,
    "cut off": cut,
    "empty": lambda path, random: path.write_bytes(b""),
    "deleted": lambda path, random: path.unlink(),
    "other JSON": lambda path, random: path.write_text(random.choice(OTHER_JSON) + "\n"),
    "not UTF-8": not_utf8,
}


def damaged(scene: Scene, pattern: str, damage: str, every: bool = False) -> None:
    """A file that matches the pattern is damaged, or all of them are."""
    paths = scene.files(pattern)
    for path in paths if every else [scene.random.choice(paths)]:
        DAMAGES[damage](path, scene.random)


class Code:
    """An object that executes a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


ANOTHER_RUNS = "another run's"
FOREIGN: dict[str, Callable[[Path, Code], object]] = {
    "a pickle with code": lambda path, code: path.write_bytes(pickle.dumps({"model": code})),
    "weights with code": lambda path, code: torch.save({"model": {}, "extra_state": code}, path),
    "old weights with code": lambda path, code: torch.save(
        {"model": {}, "extra_state": code}, path, _use_new_zipfile_serialization=False
    ),
    "without weights": lambda path, code: torch.save({"model": {}}, path),
    "a link to /dev/zero": lambda path, code: path.symlink_to("/dev/zero"),
}


def foreign(scene: Scene, pattern: str, content: str) -> None:
    """Foreign content, or the file of another run, replaces the newest file that matches the pattern."""
    path = max(scene.files(pattern), key=lambda file: file.stat().st_mtime_ns)
    path.unlink()
    if content == ANOTHER_RUNS:
        assert scene.another is not None
        shutil.copy(max(scene.another.glob(f"results/**/{Path(pattern).name}")), path)
    else:
        FOREIGN[content](path, Code(f"touch '{scene.workspace / EXECUTED}'"))


def another_record(scene: Scene) -> None:
    """The record of another run replaces this one's, with its translations if it has any."""
    assert scene.another is not None
    (state,) = scene.workspace.glob(scene.subject.state)
    (record,) = scene.another.glob("results/**/record.jsonl")
    source = record.parent
    shutil.copy(record, state / "record.jsonl")
    if (source / "translations").exists():
        shutil.rmtree(state / "translations", ignore_errors=True)
        shutil.copytree(source / "translations", state / "translations")


# Disks


def full_disk(scene: Scene) -> None:
    """The disk is full from a random moment, and later has space again."""
    scene.mount()
    job = scene.start()
    scene.wait_on_the_way(job)
    filler = scene.workspace / "filler"
    with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    job.wait()
    filler.unlink()
    scene.heed(job)


def read_only(scene: Scene) -> None:
    """The folder is read-only, and later writable again."""
    scene.mount()
    subprocess.run(["mount", "-o", "remount,ro", str(scene.workspace)], check=True)
    job = scene.start()
    job.wait()
    subprocess.run(["mount", "-o", "remount,rw", str(scene.workspace)], check=True)
    scene.heed(job)


# Leftovers


def leftovers(scene: Scene) -> None:
    """An earlier process with the same PID was killed while it wrote each of the command's files."""
    state = (str(path.relative_to(scene.workspace)) for path in scene.workspace.glob(f"{scene.subject.state}/*.*"))
    scene.heed(scene.start(leftovers=(*scene.subject.step.outputs, *state)))
