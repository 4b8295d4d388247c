"""Programs of these tests begin as copies of a process that has imported their libraries, which takes longer than the
small jobs. The package itself each copy imports, from the clone that is tested."""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import logging
import multiprocessing
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

PROGRAMS = ("preln", "snakemake")
# The last one is imported by optimizers.
LIBRARIES = ("fairseq", "matplotlib.pyplot", "seaborn", "snakemake.cli", "torch._dynamo")
SOCKET = "PRELN_TESTS_SOCKET"
"""The environment variable with the address at which copies are asked for."""
LISTENS = b"listens\n"
# Above those that a shell gives its commands.
FREE = 100

CLIENT = f"""#!{sys.executable} -IS
import json, os, socket, sys

descriptors = [0, 1, 2, *map(int, filter(None, [os.environ.get("PRELN_CONSOLE")]))]
request = [descriptors, sys.argv, dict(os.environ), os.getcwd()]
with socket.socket(socket.AF_UNIX) as server:
    server.connect(os.environ["{SOCKET}"])
    socket.send_fds(server, [b"."], descriptors)
    server.sendall(json.dumps(request).encode())
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.recv(16) or 1))
"""
"""A program that asks for a copy, hands it what it has open, and ends as the copy does."""


@cache
def programs() -> list[Path]:
    """The folder of the programs that take the place of the environment's, while these tests run."""
    folder = Path(tempfile.mkdtemp(prefix="preln-forks-"))
    atexit.register(shutil.rmtree, folder)
    for name in PROGRAMS:
        (folder / name).write_text(CLIENT, encoding="utf-8")
        (folder / name).chmod(0o755)
    os.environ[SOCKET] = str(folder / "socket")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, __file__, os.environ[SOCKET]]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    atexit.register(server.kill)
    assert server.stdout is not None and server.stdout.readline() == LISTENS
    return [folder]


def imports() -> None:
    """Import what the jobs import, and leave the log to them."""
    logging.disable()
    for library in LIBRARIES:
        importlib.import_module(library)
    logging.root.handlers.clear()
    logging.root.setLevel(logging.WARNING)
    logging.disable(logging.NOTSET)


def serve(address: str) -> None:
    """Answer requests, each by a copy of this process."""
    # Nobody waits for a copy.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # The collector would copy every page of what is imported.
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        os.write(1, LISTENS)
        while True:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                answer(connection)
                os._exit(0)
            connection.close()


def answer(connection: socket.socket) -> None:
    """Run what is asked for in a further copy, and say how that one ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, received, *_ = socket.recv_fds(connection, 1, 8)
    with connection.makefile("rb") as request:
        descriptors, *program = json.load(request)
    # Out of the way of the numbers that they get.
    held = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FREE) for descriptor in received]
    for descriptor in received:
        os.close(descriptor)
    arguments = (dict(zip(held, descriptors, strict=True)), *program)
    running = multiprocessing.get_context("fork").Process(target=run, args=arguments)
    running.start()
    running.join()
    connection.sendall(str(running.exitcode).encode())


def run(descriptors: dict[int, int], arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Run one of the environment's programs as a Python of its own would."""
    for descriptor, number in descriptors.items():
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    binaries = Path(sys.executable).parent
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [str(binaries), *filter(None, paths)]
    sys.argv = [str(binaries / Path(arguments[0]).name), *arguments[1:]]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        # As at the end of Python, which a process of multiprocessing does not come to.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()


if __name__ == "__main__":
    imports()
    serve(sys.argv[1])
