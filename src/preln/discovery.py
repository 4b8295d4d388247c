"""What a package's modules define, found without a list of them: to add one is to add a file; and what a file of one's
own defines."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import pkgutil
import re
import sys
import traceback
from collections.abc import Container
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from preln.errors import PrelnError
from preln.values import NAME

T = TypeVar("T")


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
        require_name(f"{module.__file__}: {attribute}", one.name, found)
        found[one.name] = one
    return found


def require_name(where: str, name: str, taken: Container[str]) -> None:
    """Check a name that is part of file names; messages begin with `where` it stands.

    Raises:
        PrelnError: if no file can have it, or it is taken.
    """
    if not re.fullmatch(NAME, name):
        raise PrelnError(
            f"{where}: {name!r} is no name; allowed: lower-case letters, digits and hyphens, for it is a part of file "
            "names"
        )
    if name in taken:
        raise PrelnError(f"{where}: another module has the name {name!r} already")


def load_file(path: Path, content: bytes, attribute: str, kind: type[T]) -> tuple[T, int]:
    """Execute the `content` of the Python file at `path`.

    Returns:
        What it has as `attribute`, and the line on which that is assigned.

    Raises:
        PrelnError: with the line, if it is not Python, fails, or has no such object of the `kind`.
    """
    name = f"{path.stem}_{hashlib.sha256(content).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None, path
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and `inspect` look their module up.
    sys.modules[name] = module
    try:
        tree = ast.parse(content, str(path))
        exec(compile(tree, str(path), "exec"), module.__dict__)
    except SyntaxError as error:
        raise PrelnError(f"{error.filename}:{error.lineno}: {error.msg}") from None
    except Exception as error:
        raise PrelnError(located(error, path)) from error
    value = getattr(module, attribute, None)
    if not isinstance(value, kind):
        raise PrelnError(f"{path}: defines no {attribute}, a {kind.__name__} of {kind.__module__}")
    lines = [
        statement.lineno
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and attribute in ast.unparse(statement).split("=")[0]
    ]
    return value, lines[-1] if lines else 1


def located(error: Exception, path: Path) -> str:
    """An error as a message, behind the last line of the file at `path` that was executed before it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return (
        f"{path}:{lines[-1]}: {type(error).__name__}: {error}" if lines else f"{path}: {type(error).__name__}: {error}"
    )
