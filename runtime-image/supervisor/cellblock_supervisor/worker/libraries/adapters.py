"""The table of library adapters that a kernel installs: what each changes, why, and for which version it was written.

An entry with an `IPython` or standard module applies at once, the others right after the import of their module. A unit test compares the
versions with the locked ones: check an adapter before you raise its version here.
"""

import importlib
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import (
    matplotlib_backends,
    matplotlib_boxes,
    matplotlib_directions,
    matplotlib_fonts,
    matplotlib_math_text,
    matplotlib_pause,
    nested_asyncio,
    network_errors,
    nltk_downloads,
    spawned_processes,
    widget_output,
)
from .post_import import after_import

# Called with the imported module and IPython's shell.
Install = Callable[[types.ModuleType, Any], None]


@dataclass(frozen=True, slots=True)
class Adapter:
    module: str
    # The distribution and its version, or Python's.
    version: str
    reason: str
    install: Install


def _late(name: str, function: str) -> Install:
    """For an adapter whose module is imported after its library, so that it takes memory only then."""

    def install(module: types.ModuleType, shell: Any) -> None:
        getattr(importlib.import_module(f".{name}", __package__), function)(module, shell)

    return install


ADAPTERS: tuple[Adapter, ...] = (
    Adapter("asyncio", "python 3.13", "asyncio.run works in a cell, beside the kernel's loop", nested_asyncio.install),
    Adapter("nest_asyncio", "nest-asyncio 1.6", "its asyncio.run accepts a loop factory, which servers pass", nested_asyncio.accept_loop_factory),
    Adapter("socket", "python 3.13", "a connection that fails says that there is no network", network_errors.install),
    Adapter("urllib.request", "python 3.13", "urlopen uses a proxy that a network policy brings later", _late("urllib_proxies", "follow_variables")),
    Adapter("multiprocessing.spawn", "python 3.13", "new processes have the definitions of the notebook", spawned_processes.give_definitions),
    Adapter("multiprocessing.popen_forkserver", "python 3.13", "loopback passes too few descriptors for forkserver", spawned_processes.spawn_instead),
    Adapter("IPython", "ipython 9.18", "figures are pictures under every backend", matplotlib_backends.draw_figures),
    Adapter("IPython.core.pylabtools", "ipython 9.18", "displayed figures are compressed in a sixth of the time", matplotlib_backends.compress_faster),
    Adapter("matplotlib", "matplotlib 3.10", "backends with windows become the inline backend", matplotlib_backends.replace_windows),
    Adapter("matplotlib.backends.backend_agg", "matplotlib 3.10", "plt.show() shows figures under Agg", matplotlib_backends.add_show),
    Adapter("IPython", "ipython 9.18", "a paused figure shows its last state at the end of the cell", matplotlib_pause.follow_cells),
    Adapter("matplotlib.pyplot", "matplotlib 3.10", "plt.pause shows the state of the open figures", matplotlib_pause.replace_pause),
    Adapter("matplotlib.axes", "matplotlib 3.10", "box plots have their numbers in the data of a chart", matplotlib_boxes.keep_statistics),
    *(
        Adapter(f"matplotlib.backends.backend_{name}", "matplotlib 3.10", "Hebrew and Arabic are joined and run from right to left", matplotlib_directions.draw_right_to_left)
        for name in ("agg", "svg", "pdf", "ps")
    ),
    Adapter("bidi", "python-bidi 0.6", "texts that code has reordered are not reordered again", matplotlib_directions.remember_displayed),
    Adapter("bidi.algorithm", "python-bidi 0.6", "texts that code has reordered are not reordered again", matplotlib_directions.remember_displayed),
    Adapter("matplotlib.font_manager", "matplotlib 3.10", "a missing font is named once", matplotlib_fonts.name_missing_once),
    Adapter("matplotlib.style", "matplotlib 3.10", "styles keep the fonts for other scripts", matplotlib_fonts.keep_families_of_styles),
    Adapter("seaborn", "seaborn 0.13", "themes keep the fonts for other scripts", matplotlib_fonts.keep_families_of_themes),
    Adapter("matplotlib.mathtext", "matplotlib 3.10", "texts with formulas have Chinese, Japanese and Korean", matplotlib_math_text.choose_fonts),
    Adapter("ipywidgets.widgets.widget_output", "ipywidgets 8.1", "a clear of one area erases nothing else", widget_output.count_areas),
    Adapter("rich.console", "rich 15.0", "output is text, as in a program without a terminal", widget_output.print_plainly),
    Adapter("nltk.downloader", "nltk 3.10", "downloads find the data sets of the image", nltk_downloads.install),
    Adapter("tqdm.notebook", "tqdm 4.70", "the line of a progress bar follows its progress", _late("tqdm_progress_bars", "install")),
    Adapter("cv2", "opencv-python-headless 4.14", "cv2.imshow shows pictures in the output", _late("opencv_windows", "install")),
    Adapter("plotly.io._renderers", "plotly 7.1", "displays have a line of text, the data and a picture", _late("plotly_displays", "install")),
    Adapter("plotly.basedatatypes", "plotly 7.1", "engine= of Plotly 6 is accepted", _late("plotly_displays", "accept_engine")),
    Adapter("altair", "altair 6.3", "displays have a line of text, the data and a picture", _late("altair_displays", "install")),
    Adapter("bokeh.io", "bokeh 3.10", "show() displays the figure with its data", _late("bokeh_displays", "install")),
)


def install(shell: Any) -> None:
    for adapter in ADAPTERS:
        after_import(adapter.module, lambda module, adapter=adapter: adapter.install(module, shell))  # type: ignore[misc]
