class ChromeNotFoundError(Exception):
    """Plotly imports this class; it is never raised, because no browser is needed."""


class DrawingError(RuntimeError):
    """The figure cannot be drawn; the message says why."""
