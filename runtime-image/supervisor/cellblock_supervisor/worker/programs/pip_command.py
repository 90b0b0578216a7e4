"""`pip` in the sandbox. Without a network it lists what is installed, and installs from the operator's wheelhouse where there is one; with one it is pip."""

import importlib.metadata
import os
import re
import subprocess
import sys

from cellblock_supervisor.config import INSTALL_DIR, WHEELHOUSE_DIR
from cellblock_supervisor.worker.libraries import missing_modules

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Options that take a value.
_WITH_VALUE = ("-r", "--requirement", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target", "-c", "--constraint")
# pip itself, for the wheelhouse. It reads certificates of authorities when it starts, and the image has none.
_WITHOUT_CERTIFICATES = "import ssl; ssl.SSLContext.load_verify_locations = lambda *names, **more: None"
_RUN_PIP = f"""
import sys
sys.path.insert(0, {INSTALL_DIR + "/pip.zip"!r})
from pip._internal.cli.main import main
sys.exit(main())
"""
_OPTIONS = "--user --break-system-packages --disable-pip-version-check --no-cache-dir --no-compile --no-warn-script-location".split()
# With these pip refuses `--user`.
_OTHER_PLACES = ("-t", "--target", "--prefix", "--root", "--user")


def main(arguments: list[str]) -> int:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if os.environ.get("HTTPS_PROXY"):
        return _run_with_network(command, rest)
    if command == "install":
        return _install(rest)
    if command == "freeze" or (command == "list" and "--format=freeze" in rest):
        for name, version in _sorted():
            print(f"{name}=={version}")
        return 0
    if command == "list":
        _print_table([("Package", "Version"), *_sorted()])
        return 0
    if command == "show":
        return _show(rest)
    if command in ("--version", "-V"):
        print("pip of this sandbox, which has no network: `pip list` shows what is installed")
        return 0
    print(f"ERROR: `pip {command}` is not available: this sandbox has no network. `pip list` shows what is installed.", file=sys.stderr)
    return 1


def _sorted() -> list[tuple[str, str]]:
    return sorted(_installed().values(), key=lambda entry: entry[0].lower())


def _print_table(rows: list[tuple[str, str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:<{widths[0]}} {version}" for name, version in rows]
    lines.insert(1, " ".join("-" * width for width in widths))
    print("\n".join(lines))


def _install(arguments: list[str]) -> int:
    installed, missing = _installed(), []
    try:
        requirements = _requirements(arguments)
    except OSError as error:
        print(f"ERROR: The requirements file {error.filename!r} cannot be read: {error.strerror}.", file=sys.stderr)
        return 1
    for requirement in requirements:
        found = installed.get(_normalized(_name(requirement)))
        if found is None and not _is_address(requirement) and (module := missing_modules.module_of(_name(requirement))) is not None:
            print(f"Requirement already satisfied: {requirement} (`import {module}` works)")
            continue
        if found is None or not _accepts(requirement, found[1]):
            missing.append((requirement, found))
        else:
            print(f"Requirement already satisfied: {found[0]} ({found[1]})")
    if not missing:
        return 0
    if missing_modules.wheels():
        wanted = [requirement for requirement, _ in missing]
        options = ["--no-index", *_OPTIONS, "--find-links", WHEELHOUSE_DIR]
        if _run_pip(f"{_WITHOUT_CERTIFICATES}{_RUN_PIP}", ["install", *options, "--", *wanted]) == 0:
            return 0
    for requirement, found in missing:
        print(f"ERROR: {_refusal(requirement, found)}", file=sys.stderr)
    return 1


def _run_with_network(command: str, rest: list[str]) -> int:
    options = []
    if command == "install":
        is_elsewhere = any(argument.partition("=")[0] in _OTHER_PLACES for argument in rest)
        options = [option for option in _OPTIONS if not (is_elsewhere and option == "--user")]
        if missing_modules.wheels():
            options += ["--find-links", WHEELHOUSE_DIR]
    return _run_pip(_RUN_PIP, [command, *options, *rest])


def _run_pip(code: str, arguments: list[str]) -> int:
    sys.stdout.flush()
    # Not inherited from the code's environment: a path there could replace modules of pip.
    return subprocess.run([sys.executable, "-P", "-c", code, *arguments], env={**os.environ, "PYTHONPATH": ""}).returncode


def _refusal(requirement: str, found: tuple[str, str] | None) -> str:
    if found is not None:
        return f"`{requirement}` cannot be installed, because this sandbox has no network. Version {found[1]} is installed: use it."
    if _is_address(requirement):
        return f"`{requirement}` cannot be installed, because this sandbox has no network. `pip list` shows what is installed."
    return missing_modules.sentence(_name(requirement))


def _is_address(requirement: str) -> bool:
    return "://" in requirement


def _show(names: list[str]) -> int:
    installed = _installed()
    for name in names:
        found = installed.get(_normalized(name))
        if found is None:
            print(f"WARNING: Package(s) not found: {name}", file=sys.stderr)
            return 1
        print(f"Name: {found[0]}\nVersion: {found[1]}")
    return 0


def _requirements(arguments: list[str]) -> list[str]:
    """As they were written, with versions; options are left out."""
    names, files, is_value = [], [], ""
    for argument in arguments:
        if is_value:
            if is_value in ("-r", "--requirement"):
                files.append(argument)
            is_value = ""
        elif argument in _WITH_VALUE:
            is_value = argument
        elif not argument.startswith("-"):
            names.append(argument)
    for path in files:
        with open(path, encoding="utf-8", errors="replace") as file:
            names += [line.partition(" #")[0].strip() for line in file if line.strip() and not line.lstrip().startswith(("#", "-"))]
    return [name for name in names if _NAME.match(name) is not None]


def _accepts(requirement: str, version: str) -> bool:
    """True for a requirement that cannot be read, such as a path: the installed version is then as good as any."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(requirement).specifier.contains(version, prereleases=True)
    except InvalidRequirement:
        return True


def _name(requirement: str) -> str:
    match = _NAME.match(requirement)
    return match[0] if match else requirement


def _installed() -> dict[str, tuple[str, str]]:
    found = ((dist.metadata["Name"], dist.version) for dist in importlib.metadata.distributions())
    return {_normalized(name): (name, version) for name, version in found if name}


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
