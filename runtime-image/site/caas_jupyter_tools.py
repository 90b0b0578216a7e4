"""The other name of `ace_tools`."""

from ace_tools import display_chart_to_user, display_dataframe_to_user, display_matplotlib_image_to_user

__all__ = ["display_chart_to_user", "display_dataframe_to_user", "display_matplotlib_image_to_user"]
