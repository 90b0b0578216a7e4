"""Adds acorn to an image without npm, so that an image with Node that is built on it can parse JavaScript cells.

Usage: add-acorn.py PACKAGE_LOCK NODE_MODULES. The archive is checked against the hash in the lockfile. NPM_CONFIG_REGISTRY names another registry.
"""

import base64
import hashlib
import io
import json
import os
import sys
import tarfile
import urllib.request
from pathlib import Path

PACKAGE = "acorn"

lock, target = Path(sys.argv[1]), Path(sys.argv[2]) / PACKAGE
locked = json.loads(lock.read_text())["packages"][f"node_modules/{PACKAGE}"]
registry = (os.environ.get("NPM_CONFIG_REGISTRY") or "https://registry.npmjs.org").rstrip("/")
with urllib.request.urlopen(f"{registry}/{PACKAGE}/-/{PACKAGE}-{locked['version']}.tgz", timeout=60) as answer:
    archive = answer.read()
algorithm, _, expected = locked["integrity"].partition("-")
if base64.b64encode(hashlib.new(algorithm, archive).digest()).decode() != expected:
    sys.exit(f"The archive of {PACKAGE} {locked['version']} has another hash than the lockfile.")
with tarfile.open(fileobj=io.BytesIO(archive)) as files:
    for member in files.getmembers():
        name = Path(member.name).relative_to("package")
        if member.isfile() and (name.parts[0] == "dist" or name.name in ("package.json", "LICENSE")):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files.extractfile(member).read())
