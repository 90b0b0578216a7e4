"""Starts a kernel: `python -m cellblock_notebooks -f CONNECTION_FILE`, as kernel.json says."""

import sys
from pathlib import Path

# As ipykernel_launcher does: a file of the working directory must not replace a module of the kernel. IPython adds the folder again for user code.
if sys.path[0] == "" or Path(sys.path[0]) == Path.cwd():
    del sys.path[0]

from cellblock_notebooks.kernel_app import NotebookKernelApp  # noqa: E402

NotebookKernelApp.launch_instance()
