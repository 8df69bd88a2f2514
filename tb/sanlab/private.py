"""Import of the laboratory's modules in a user's process, under names that no package of the user has.

The agents run in the user's simulation, beside folders of the user that may be called `tb` or `pymodels`. `install`
therefore imports them and the modules that they use below `sanlab._tree`. An absolute import of one of these packages
in their text is compiled as one of `sanlab._tree.<package>`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from .tree import TREE

LIBRARY = __name__.rpartition(".")[0]
PREFIX = f"{LIBRARY}._tree"
PACKAGES = ("pymodels", "tb")
"""Packages of the laboratory that the agents use."""
IMPORT = re.compile(rb"^(\s*from )(%s)(?=[. ])" % "|".join(PACKAGES).encode(), re.MULTILINE)
"""Absolute import from one of them."""
RENAMED = rb"\1" + PREFIX.encode() + rb".\2"


class _Loader(SourceFileLoader):
    """Loader that compiles a file with renamed imports; byte code is not cached, since its names differ."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of a module."""
        path = self.get_filename(fullname)
        return compile(IMPORT.sub(RENAMED, self.get_data(path)), path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finder of the agents and of the modules below `sanlab._tree`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module whose imports must be renamed, or None."""
        if not fullname.startswith((f"{PREFIX}.", f"{LIBRARY}.agents.")):
            return None
        found = PathFinder.find_spec(fullname, path)
        if found is not None and isinstance(found.loader, SourceFileLoader):
            found.loader = _Loader(fullname, found.loader.path)
        return found


def install() -> None:
    """Prepare the import of the agents; without effect in processes in which the names of PACKAGES are ours."""
    found = [PathFinder.find_spec(name) for name in PACKAGES]
    ours = all(spec is not None and spec.origin == str(TREE / spec.name / "__init__.py") for spec in found)
    if ours or PREFIX in sys.modules:
        return
    tree = ModuleType(PREFIX)
    tree.__path__ = [str(TREE)]
    sys.modules[PREFIX] = tree
    sys.meta_path.insert(0, _Finder())
