"""Adds data to what the user displays: tables as rows with a schema, figures as the series that were drawn.

Only objects that are displayed are looked at, and by the names of their types: nothing is imported for them here. What cannot be read
off is left out; the picture or the HTML that the object has anyway is always there.
"""

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence

from IPython.core.formatters import BaseFormatter, DisplayFormatter
from traitlets import ObjectName, Unicode

from . import chart_data, table_data

_MAKERS: tuple[tuple[str, Callable[[object], object], tuple[tuple[str, str], ...]], ...] = (
    (table_data.MIME, table_data.describe, (("pandas.core.frame", "DataFrame"), ("pandas.core.series", "Series"))),
    (chart_data.MIME, chart_data.describe, (("matplotlib.figure", "Figure"),)),
)


class _DataFormatter(BaseFormatter):
    """A further form of known types. An object cannot ask for it by a method of its own."""

    format_type = Unicode()
    print_method = ObjectName("_repr_nothing_")
    _return_type = dict

    def __call__(self, obj: object) -> object:
        try:
            make = self.lookup(obj)
        except KeyError:
            return None
        try:
            return make(obj)
        except Exception:
            return None

    def pop(self, typ: object, default: object = None) -> object:
        """IPython takes figures out of every formatter before it picks a picture format; this one is no picture."""
        return default


def install(formatter: DisplayFormatter) -> None:
    for mime, make, names in _MAKERS:
        added = _DataFormatter(parent=formatter, format_type=mime)
        for module, name in names:
            added.for_type_by_name(module, name, make)
        formatter.formatters[mime] = added
    sys.meta_path.insert(0, _PlotlyFinder())


class _PlotlyFinder(importlib.abc.MetaPathFinder):
    """Plotly shows a figure as its JSON only where it finds nbformat, of which it reads the version and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "plotly.io._renderers":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: types.ModuleType) -> None:
                execute(module)
                if getattr(module, "nbformat", None) is None:
                    module.nbformat = types.SimpleNamespace(__version__="5.10.0")  # type: ignore[attr-defined]

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
