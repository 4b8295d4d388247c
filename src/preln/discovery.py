"""The objects that a package's modules define, without a list of them, for to add one is to add a file; and the object
that a file of one's own defines."""

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
    """Collect what every module of a package has as `attribute`, by its `name`, in the order of the modules' names; the
    module `base` and packages, which the others build on, have none.

    Raises:
        PrelnError: if a module has none, or one with another's name or with one that no file can have.
    """
    values: dict[str, Any] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if info.name == "base" or info.ispkg:
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if not hasattr(module, attribute):
            raise PrelnError(f"{module.__file__}: defines no {attribute}; see the other modules there")
        value = getattr(module, attribute)
        require_name(f"{module.__file__}: {attribute}", value.name, values)
        values[value.name] = value
    return values


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
        code = compile(tree, str(path), "exec")
    except SyntaxError as error:
        raise PrelnError(f"{error.filename}:{error.lineno}: {error.msg}") from None
    _require_one_file(tree, path)
    try:
        exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        raise PrelnError(located(error, path)) from error
    value = getattr(module, attribute, None)
    if not isinstance(value, kind):
        raise PrelnError(f"{path}: defines no {attribute}, a {kind.__name__} of {kind.__module__}")
    lines = [
        statement.lineno
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and re.match(rf"{attribute}\b", ast.unparse(statement))
    ]
    return value, lines[-1] if lines else 1


def _require_one_file(tree: ast.Module, path: Path) -> None:
    """Check that a file imports nothing of the package that it is in: the digest of the file would not cover it.

    Raises:
        PrelnError: with the line, if it does.
    """
    for statement in ast.walk(tree):
        match statement:
            case ast.Import(names=aliases):
                packages = [alias.name.partition(".")[0] for alias in aliases]
            case ast.ImportFrom(module=module, level=level):
                packages = [module.partition(".")[0] if module and not level else ""]
            case _:
                continue
        if any(_is_in(package, path.absolute()) for package in packages):
            raise PrelnError(
                f"{path}:{statement.lineno}: imports from the package that it is in; put all of it into this file, "
                "whose content alone tells whether its runs are to be trained again"
            )


def _is_in(package: str, path: Path) -> bool:
    """The file at `path` is in a package, which has no name in a relative import."""
    if not package:
        return True
    spec = importlib.util.find_spec(package)
    return any(path.is_relative_to(folder) for folder in (spec and spec.submodule_search_locations) or ())


def located(error: BaseException, path: Path) -> str:
    """An error as a message, behind the last line of the file at `path` that was executed before it."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).absolute() == path.absolute()]
    return (
        f"{path}:{lines[-1]}: {type(error).__name__}: {error}" if lines else f"{path}: {type(error).__name__}: {error}"
    )
