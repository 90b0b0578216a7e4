"""Options of libraries that code sets for the whole process: how each group is read, set, and what it is before any change."""

import decimal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


Values = dict[str, Any]
# Follow from the kernel, not from the user.
_SKIPPED_PARAMETERS = frozenset(("backend", "backend_fallback", "interactive", "toolbar", "timezone"))


@dataclass(frozen=True)
class OptionGroup:
    """`defaults` are those of a module that is imported after the start of the kernel."""

    module: str
    read: Callable[[], Values]
    set: Callable[[Values], None]
    defaults: Callable[[], Values]

    @property
    def is_loaded(self) -> bool:
        return self.module in sys.modules


def _pandas_options() -> Values:
    from pandas._config import config

    return {key: config.get_option(key) for key in config._registered_options if key not in config._deprecated_options}


def _pandas_defaults() -> Values:
    from pandas._config import config

    return {key: option.defval for key, option in config._registered_options.items()}


def _set_pandas_options(options: Values) -> None:
    import pandas

    for key, value in options.items():
        pandas.set_option(key, value)


def _parameters() -> Values:
    import matplotlib

    return {key: matplotlib.rcParams._get(key) for key in matplotlib.rcParams if key not in _SKIPPED_PARAMETERS}


def _default_parameters() -> Values:
    import matplotlib

    return dict(matplotlib.rcParamsDefault)


def _set_parameters(parameters: Values) -> None:
    import matplotlib

    matplotlib.rcParams.update(parameters)


def _numpy_options() -> Values:
    import numpy

    return {**numpy.get_printoptions(), **{f"error_{kind}": act for kind, act in numpy.geterr().items()}}


def _set_numpy_options(options: Values) -> None:
    import numpy

    errors = {key.removeprefix("error_"): value for key, value in options.items() if key.startswith("error_")}
    numpy.seterr(**errors)
    numpy.set_printoptions(**{key: value for key, value in options.items() if not key.startswith("error_")})


def _sklearn_options() -> Values:
    import sklearn

    return dict(sklearn.get_config())


def _sklearn_defaults() -> Values:
    from sklearn import _config

    return dict(_config._global_config)


def _set_sklearn_options(options: Values) -> None:
    import sklearn

    sklearn.set_config(**options)


def _decimal_context() -> Values:
    context = decimal.getcontext()
    return {"prec": context.prec, "rounding": context.rounding}


def _set_decimal_context(values: Values) -> None:
    for name, value in values.items():
        setattr(decimal.getcontext(), name, value)


def _plotly_options() -> Values:
    import plotly.io

    return {"template": plotly.io.templates.default, "renderer": plotly.io.renderers.default}


def _set_plotly_options(options: Values) -> None:
    import plotly.io

    if "template" in options:
        plotly.io.templates.default = options["template"]
    if "renderer" in options:
        plotly.io.renderers.default = options["renderer"]


def _notebook_options() -> Values:
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    text: Any = shell.display_formatter.formatters["text/plain"]
    return {
        "shown": shell.ast_node_interactivity,
        "precision": text.float_precision,
        "extensions": sorted(shell.extension_manager.loaded),
        "figures": _figure_options(),
        "aliases": {name: command for name, command in shell.alias_manager.aliases if type(command) is str},
    }


def _figure_options() -> Values | None:
    """Those of `%config InlineBackend`; None before the first figure or setting."""
    module = sys.modules.get("matplotlib_inline.config")
    if module is None or not module.InlineBackend.initialized():
        return None
    backend = module.InlineBackend.instance()
    return {name: getattr(backend, name) for name in ("figure_formats", "print_figure_kwargs", "close_figures")}


def _set_notebook_options(options: Values) -> None:
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    for extension in options.get("extensions", ()):
        if extension not in shell.extension_manager.loaded:
            shell.extension_manager.load_extension(extension)
    if "shown" in options:
        shell.ast_node_interactivity = options["shown"]
    if "precision" in options:
        text: Any = shell.display_formatter.formatters["text/plain"]
        text.float_precision = options["precision"]
    for name, command in options.get("aliases", {}).items():
        shell.alias_manager.define_alias(name, command)
    if options.get("figures"):
        from matplotlib_inline.config import InlineBackend

        backend = InlineBackend.instance(parent=shell)
        backend.shell = shell
        for name, value in options["figures"].items():
            setattr(backend, name, value)


def _set_socket_timeout(values: Values) -> None:
    import socket

    socket.setdefaulttimeout(values["timeout"])


def _locale() -> Values:
    import locale

    return {"all": locale.setlocale(locale.LC_ALL)}


def _set_locale(values: Values) -> None:
    import locale

    locale.setlocale(locale.LC_ALL, values["all"])


def _set_field_limit(values: Values) -> None:
    import csv

    csv.field_size_limit(values["limit"])


def _set_recursion_limit(values: Values) -> None:
    sys.setrecursionlimit(values["limit"])


def _plotly_defaults() -> dict[str, object]:
    # Loaded with plotly.
    from ...libraries import plotly_displays

    return {"template": "plotly", "renderer": plotly_displays.initial_renderer()}


OPTION_GROUPS: dict[str, OptionGroup] = {
    "pandas options": OptionGroup("pandas", _pandas_options, _set_pandas_options, _pandas_defaults),
    "matplotlib parameters": OptionGroup("matplotlib", _parameters, _set_parameters, _default_parameters),
    "numpy options": OptionGroup("numpy", _numpy_options, _set_numpy_options, dict),
    "sklearn options": OptionGroup("sklearn", _sklearn_options, _set_sklearn_options, _sklearn_defaults),
    "plotly options": OptionGroup(
        "plotly.io", _plotly_options, _set_plotly_options, _plotly_defaults
    ),
    "decimal context": OptionGroup(
        "decimal", _decimal_context, _set_decimal_context, lambda: {"prec": 28, "rounding": decimal.ROUND_HALF_EVEN}
    ),
    "notebook options": OptionGroup("IPython", _notebook_options, _set_notebook_options, dict),
    "socket timeout": OptionGroup(
        "socket", lambda: {"timeout": sys.modules["socket"].getdefaulttimeout()}, _set_socket_timeout, lambda: {"timeout": None}
    ),
    "locale": OptionGroup("locale", _locale, _set_locale, dict),
    "csv field limit": OptionGroup(
        "csv", lambda: {"limit": sys.modules["csv"].field_size_limit()}, _set_field_limit, lambda: {"limit": 131072}
    ),
    "integer text limit": OptionGroup(
        "sys", lambda: {"digits": sys.get_int_max_str_digits()}, lambda values: sys.set_int_max_str_digits(values["digits"]), dict
    ),
    "recursion limit": OptionGroup("sys", lambda: {"limit": sys.getrecursionlimit()}, _set_recursion_limit, dict),
}
