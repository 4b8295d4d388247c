"""The settings of `make test-processors` are what they say."""

import subprocess
import sys

import pytest

from tests.processors import Setting, environment, processor, settings

OF_LOOPS = [setting for setting in settings() if "loops" in setting.name]
LOOPS = {"avx2": "AVX2", "default": "DEFAULT", None: "PyTorch"}


@pytest.mark.slow
@pytest.mark.parametrize("setting", OF_LOOPS, ids=lambda setting: setting.name)
def test_a_setting_computes_with_the_loops_that_it_names(setting: Setting) -> None:
    if reason := setting.reason_to_skip(processor()):
        pytest.skip(reason)
    command = [sys.executable, "-c", "from preln.fused import native; print(native.loops())"]
    with environment(setting) as variables:
        loops = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout.strip()
    assert loops == LOOPS[setting.environment.get("ATEN_CPU_CAPABILITY")]
