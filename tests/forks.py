"""`preln`, `snakemake`, and modules of Python, as forks of a server that has imported their libraries, which takes
longer than the small jobs of these tests.

Each fork imports the package itself from the clone under test.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import logging
import multiprocessing
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

import numpy as np

SOCKET = "PRELN_TESTS_SOCKET"
"""The environment variable with the server's address."""
LISTENS = b"listens\n"
MODULES = Path("modules", "python")
"""The program that takes `-m`, a module and its arguments; in a folder of its own, for it is no Python."""
# Those of optimizers (torch._dynamo), of figures and reports, and of workflows. fairseq comes before fairseq_cli, as in
# the package, for the first that is imported sets up logging.
LIBRARIES = (
    *("torch._dynamo", "torch.onnx", "sklearn.metrics", "hydra", "omegaconf", "sacrebleu", "pandas", "seaborn"),
    *("altair", "vl_convert", "jinja2", "pydantic", "typer", "ruamel.yaml"),
    *("fairseq", "fairseq_cli.train", "snakemake.cli"),
)
BY_FAIRSEQ = ("train", "pretrain", "finetune", "measure", "trace")
"""The commands that log as fairseq's import sets it up."""
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
    code = int(server.recv(16) or 1)
# As a shell says that a signal ended it.
sys.exit(code if code >= 0 else 128 - code)
"""
"""The program that asks for a fork, hands it what it has open, and ends as the fork does."""


@cache
def binaries() -> Path:
    """The folder with the programs that take the place of the environment's, and of `python -m`."""
    folder = Path(tempfile.mkdtemp(prefix="preln-forks-"))
    atexit.register(shutil.rmtree, folder)
    for program in (folder / "preln", folder / "snakemake", folder / MODULES):
        program.parent.mkdir(exist_ok=True)
        program.write_text(CLIENT, encoding="utf-8")
        program.chmod(0o755)
    os.environ[SOCKET] = str(folder / "socket")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, __file__, os.environ[SOCKET]]
    # The server ends with this process, at the end of its input.
    server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(server.kill)
    assert server.stdout is not None and server.stdout.readline() == LISTENS
    return folder


def serve(address: str) -> None:
    """Answer requests, each by a fork of this process."""
    # Nobody waits for a fork.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # The collector would copy every page of what is imported.
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        os.write(1, LISTENS)
        while 0 not in select.select([server.fileno(), 0], [], [])[0]:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                answer(connection)
                os._exit(0)
            connection.close()


def answer(connection: socket.socket) -> None:
    """Run what is asked for in a further fork, and say how that one ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, received, *_ = socket.recv_fds(connection, 1, 8)
    with connection.makefile("rb") as request:
        descriptors, *asked = json.load(request)
    # Out of the way of the numbers that they get.
    held = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FREE) for descriptor in received]
    for descriptor in received:
        os.close(descriptor)
    arguments = (dict(zip(held, descriptors, strict=True)), *asked)
    running = multiprocessing.get_context("fork").Process(target=run, args=arguments)
    running.start()
    threading.Thread(target=end_with_client, args=(connection, running), daemon=True).start()
    running.join()
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(str(running.exitcode).encode())


def end_with_client(connection: socket.socket, running: multiprocessing.Process) -> None:
    """Kill the fork when what stands for it is killed."""
    hang_up = select.poll()
    hang_up.register(connection, 0)
    hang_up.poll()
    running.kill()


def run(descriptors: dict[int, int], arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Run the environment's program, or a module, as a Python of its own would."""
    for descriptor, number in descriptors.items():
        os.dup2(descriptor, number)
        os.close(descriptor)
    # Closed by multiprocessing.
    sys.stdin = os.fdopen(0, closefd=False)
    np.random.seed()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    called, *asked = arguments
    runs_module = Path(called).name == MODULES.name
    program = Path(sys.executable).with_name(Path(called).name)
    if runs_module or asked[:1] not in ([command] for command in BY_FAIRSEQ):
        logging.root.handlers.clear()
        logging.root.setLevel(logging.WARNING)
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = [folder if runs_module else str(program.parent), *filter(None, paths)]
    try:
        if runs_module:
            # Its own children are forks too.
            sys.executable, sys.argv = called, asked[1:]
            runpy.run_module(asked[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = [str(program), *asked]
            runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        # As at the end of Python, which a process of multiprocessing does not come to.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()


if __name__ == "__main__":
    for library in LIBRARIES:
        importlib.import_module(library)
    serve(sys.argv[1])
