"""os.getcwd by the name that HOME gives to the folder of the files: clients whose home is /home/user get paths below it, as from the shell's pwd."""

import os

_HOME, _DATA = "/home/user", "/mnt/data"
_folder = os.getcwd


def getcwd() -> str:
    """Return a unicode string representing the current working directory."""
    folder = _folder()
    if os.environ.get("HOME") == _HOME and (folder == _DATA or folder.startswith(_DATA + "/")):
        return _HOME + folder[len(_DATA) :]
    return folder


os.getcwd = getcwd
