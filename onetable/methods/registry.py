"""The ways to release one table, one word each: the folder beside this module has all of a way.

A method's module is imported when the method is used, so that a command is quick.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any, cast

from coterie.jobs.file.document import read_document
from coterie.jobs.run.archive import saved_path
from coterie.onetable.methods.generalizing.method import Generalizing
from coterie.onetable.methods.method import Method, TableMethod

# In the order in which errors and documents list them; docs/one-table.md says which is best for what.
GENERALIZING = (
    "mondrian", "incognito", "samarati", "datafly", "specialize", "cluster", "quantiles",
)  # fmt: skip
TABLE_METHODS = (*GENERALIZING, "anatomy", "condense")  # of `coterie anonymise`
OWN_FILES = ("perturb", "hide-rules")  # of commands of their own, with files of their own
METHODS = (*TABLE_METHODS, *OWN_FILES)
DEFAULT = "mondrian"


@cache
def method_of(name: str) -> Method[Any]:
    """The method of this name."""
    module = importlib.import_module(f"{__package__}.{name.replace('-', '_')}.method")
    return cast(Method[Any], module.METHOD)


def table_method(name: str) -> TableMethod:
    return cast(TableMethod, method_of(name))


def generalizing(name: str) -> Generalizing:
    return cast(Generalizing, method_of(name))


def method_of_result(folder: Path) -> Method[Any]:
    """The method that made a result folder, by the file that is kept in it."""
    path = saved_path(folder)
    node = read_document(path.read_text(encoding="utf-8"), str(path)).optional("method")
    return method_of(DEFAULT if node is None else node.choice(*METHODS))
