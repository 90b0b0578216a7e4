"""Compiles what the supervisor imports. Run it with the interpreter's options of the image's entry point, which choose the kind and the folder.

Libraries' bytecode is not checked against its source: the root is read-only, and the layer is reproducible. The supervisor's own is, so that a
changed supervisor that is mounted over the image's runs as it is.
"""

import importlib
import py_compile
import sys

INSTALLED = "/opt/cellblock"
sys.path.insert(0, INSTALLED)
sys.dont_write_bytecode = True
# What `__main__` imports and what is imported later.
for name in ("__main__", "serving", "isolation_checks", "network_probe"):
    importlib.import_module(f"cellblock_supervisor.{name}")
importlib.import_module("hashlib")
for path in sorted({module.__file__ for module in tuple(sys.modules.values()) if (getattr(module, "__file__", None) or "").endswith(".py")}):
    if path != __file__:
        is_own = path.startswith(f"{INSTALLED}/")
        mode = py_compile.PycInvalidationMode.CHECKED_HASH if is_own else py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(path, doraise=True, invalidation_mode=mode)
