"""The tests that compare numbers, as on other processors than the one at hand: `make test-processors`.

Each library that computes chooses its instructions by the processor, and so do our compiled loops; each can be told to
choose others. The tests with the marker `numbers` pass whatever is chosen.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = ("DEFAULT", "AVX2", "AVX512")
"""Kinds of x86 processors as PyTorch names them; each has the instructions of those before it."""
NUMPY = "NPY_DISABLE_CPU_FEATURES"


@dataclass(frozen=True)
class Setting:
    """A choice of instructions in place of those that the processor at hand would be given."""

    name: str  # For the report.
    environment: Mapping[str, str] = field(default_factory=dict)  # Variables that a library reads.
    needs: str = "DEFAULT"  # The kind of processor that has the instructions.
    loops: bool = True  # True with compiled loops, whose kind is chosen as PyTorch's own are.

    def reason_to_skip(self, processor: str) -> str | None:
        """Why it cannot be tried on a kind of processor; nothing where it can."""
        if KINDS.index(self.needs) > KINDS.index(processor):
            return f"this processor has no {self.needs}"
        if not self.environment.get(NUMPY, "some"):
            return "numpy uses nothing here that not every processor has"
        return None


def settings() -> list[Setting]:
    """All of them. PyTorch's products of matrices are MKL's; numpy's are OpenBLAS's."""
    return [
        *(
            Setting(f"OpenBLAS for {core}", {"OPENBLAS_CORETYPE": core}, needs)
            for core, needs in (("Haswell", "AVX2"), ("Zen", "AVX2"), ("SkylakeX", "AVX512"))
        ),
        Setting("numpy with what every processor has", {NUMPY: " ".join(_of_numpy())}),
        Setting("PyTorch and compiled loops for AVX2", {"ATEN_CPU_CAPABILITY": "avx2"}, "AVX2"),
        Setting("PyTorch and compiled loops for every processor", {"ATEN_CPU_CAPABILITY": "default"}),
        Setting("oneDNN for AVX2", {"ONEDNN_MAX_CPU_ISA": "AVX2"}, "AVX2"),
        Setting("MKL as on every processor", {"MKL_CBWR": "COMPATIBLE"}),
        Setting("no compiled loops", loops=False),
    ]


def processor() -> str:
    """The kind of the processor at hand."""
    import torch

    kind = torch.backends.cpu.get_cpu_capability()
    return kind if kind in KINDS else KINDS[0]


@contextmanager
def environment(setting: Setting) -> Iterator[dict[str, str]]:
    """The environment of a process that computes so."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {**os.environ, **setting.environment}
        if not setting.loops:
            source = Path(folder) / "src"
            shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info"))
            variables["PYTHONPATH"] = str(source)
        yield variables


def _of_numpy() -> list[str]:
    """The instructions that numpy uses here and not everywhere."""
    import numpy as np

    # numpy's types say that it prints and returns nothing.
    shown: dict[str, dict[str, list[str]]] = np.show_config(mode="dicts")  # type: ignore[assignment]
    return shown["SIMD Extensions"].get("found", [])


def _test(setting: Setting) -> tuple[int, str]:
    """The tests with a setting: how pytest ended, and what it says."""
    command = [sys.executable, "-m", "pytest", "-m", "numbers", "-q", "-p", "no:cacheprovider"]
    if not setting.loops:
        command += ["--deselect", "tests/unit/test_fused.py::test_this_installation_has_compiled_loops"]
    with environment(setting) as variables:
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main() -> int:
    """Run the tests with every setting, as many at a time as there are cores."""
    for name in {name for setting in settings() for name in setting.environment}:
        # A variable that is set already would hide what the processor has.
        os.environ.pop(name, None)
    kind, start, failed, possible = processor(), time.monotonic(), [], []
    for setting in settings():
        if reason := setting.reason_to_skip(kind):
            print(f"{setting.name}: skipped, for {reason}", flush=True)
        else:
            possible.append(setting)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for setting, (code, output) in zip(possible, pool.map(_test, possible), strict=True):
            if code:
                failed.append(setting.name)
                print(output)
            print(f"{setting.name}: {output.strip().splitlines()[-1].strip('= ')}", flush=True)
    print(f"{len(possible) - len(failed)} of {len(possible)} passed in {(time.monotonic() - start) / 60:.0f} minutes")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
