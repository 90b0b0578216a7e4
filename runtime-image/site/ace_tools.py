"""Shows tables and pictures to the user, by the names that programs written for ChatGPT call."""

from typing import Any

from IPython.display import Image, display


def display_dataframe_to_user(name: str, dataframe: Any) -> Any:
    print(name)
    display(dataframe)
    return dataframe


def display_chart_to_user(path: str, title: str = "", chart_type: str = "") -> None:
    display_matplotlib_image_to_user(title, path)


def display_matplotlib_image_to_user(title: str, image_path: str) -> None:
    if title:
        print(title)
    display(Image(filename=image_path))
