"""`plt.show()` under the Agg backend, which scripts choose because they run without a window: shows the figures as the inline backend does."""

import io
import types
from base64 import b64encode

_BACKEND = "matplotlib.backends.backend_agg"


def install() -> None:
    from .post_import import after_import

    after_import(_BACKEND, _add_show)


def _add_show(module: types.ModuleType) -> None:
    module.show = _show  # type: ignore[attr-defined]


def _show(*_arguments: object, **_options: object) -> None:
    from IPython.core.getipython import get_ipython
    from IPython.display import display
    from matplotlib._pylab_helpers import Gcf

    managers = Gcf.get_all_fig_managers()
    try:
        for manager in managers:
            figure = manager.canvas.figure
            picture = io.BytesIO()
            figure.savefig(picture, format="png", bbox_inches="tight")
            data, metadata = get_ipython().display_formatter.format(figure)
            display({**data, "image/png": b64encode(picture.getvalue()).decode()}, metadata=metadata, raw=True)
    finally:
        Gcf.destroy_all()
