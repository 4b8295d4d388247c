"""The compiled loops of preln.fused; everything else about the package is in pyproject.toml.

An editable installation, which is of a clone, builds them, once for each kind of processor, of which the machine that
runs them takes its own. A wheel has none, so that it is pure Python. Without them the package works all the same, on
PyTorch alone, and slower.
"""

import platform

from setuptools import Extension, setup
from setuptools.command.editable_wheel import editable_wheel

# Fast-math may add up in another order, and forget about infinities, for which the loops look by bits.
COMPILED = ["-std=c++17", "-O3", "-ffast-math", "-fopenmp"]
X86 = {
    "": [],
    "_avx2": ["-march=x86-64-v3"],
    "_avx512": ["-march=x86-64-v4", "-mprefer-vector-width=512"],
}
LEVELS = X86 if platform.machine() in ("x86_64", "AMD64") else {"": []}


class EditableWithLoops(editable_wheel):
    """An editable installation, which builds the loops where there is a compiler."""

    def run(self) -> None:
        self.distribution.ext_modules = [
            Extension(
                f"preln.fused._native{level}",
                ["src/preln/fused/native.cpp"],
                extra_compile_args=[*COMPILED, *options],
                # Linked without -ffast-math, which would have the whole process lose its smallest numbers.
                extra_link_args=["-fopenmp"],
                optional=True,
            )
            for level, options in LEVELS.items()
        ]
        super().run()


setup(cmdclass={"editable_wheel": EditableWithLoops})
