"""What a package's modules define, found without a list of them: to add one is to add a file."""

from __future__ import annotations

import importlib
import pkgutil
import re
from types import ModuleType
from typing import Any

from preln.errors import PrelnError
from preln.values import NAME


def defined(package: ModuleType, attribute: str) -> dict[str, Any]:
    """What every module of a package has as `attribute`, by its `name`, in the order of the modules' names; the module
    `base` and packages, which the others build on, have none.

    Raises:
        PrelnError: if a module has none, or one with another's name or with one that no file can have.
    """
    found: dict[str, Any] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if info.name == "base" or info.ispkg:
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if not hasattr(module, attribute):
            raise PrelnError(f"{module.__file__}: defines no {attribute}; see the other modules there")
        one = getattr(module, attribute)
        if not re.fullmatch(NAME, one.name):
            raise PrelnError(
                f"{module.__file__}: {attribute}: {one.name!r} is no name; allowed: lower-case letters, digits and "
                "hyphens, for it is a part of file names"
            )
        if one.name in found:
            raise PrelnError(f"{module.__file__}: {attribute}: another module has the name {one.name!r} already")
        found[one.name] = one
    return found
