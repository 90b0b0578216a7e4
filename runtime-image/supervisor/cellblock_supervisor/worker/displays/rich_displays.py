"""Adds data to what the user displays: tables as rows with a schema, figures as the series that were drawn.

Only displayed objects are examined, by the names of their types: nothing is imported for them here. What cannot be read is left out; the
object's own picture or HTML is always sent.
"""

from collections.abc import Callable

from IPython.core.formatters import BaseFormatter, DisplayFormatter
from traitlets import ObjectName, Unicode

from ..charts import chart_data, matplotlib_charts
from . import table_data

_MAKERS: tuple[tuple[str, Callable[[object], object], tuple[tuple[str, str], ...]], ...] = (
    (table_data.MIME, table_data.describe, (("pandas.core.frame", "DataFrame"), ("pandas.core.series", "Series"))),
    (chart_data.MIME, matplotlib_charts.describe, (("matplotlib.figure", "Figure"),)),
)
_STYLER = ("pandas.io.formats.style", "Styler")


class _DataFormatter(BaseFormatter):
    """An additional representation of known types. Objects cannot define it by a method."""

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
        """IPython removes figures from every formatter before it chooses a picture format; this one is no picture."""
        return default


def install(formatter: DisplayFormatter) -> None:
    for mime, make, names in _MAKERS:
        added = _DataFormatter(parent=formatter, format_type=mime)
        for module, name in names:
            added.for_type_by_name(module, name, make)
        formatter.formatters[mime] = added
    # A styled table is HTML and a memory address otherwise.
    formatter.formatters[table_data.MIME].for_type_by_name(*_STYLER, lambda styler: table_data.describe(styler.data))
    formatter.formatters["text/plain"].for_type_by_name(*_STYLER, lambda styler, printer, _cycle: printer.text(repr(styler.data)))
