"""`pip` in the sandbox: lists what is installed, and says that nothing else can be installed."""

import importlib.metadata
import re
import sys

from cellblock_supervisor.worker import missing_modules

_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Options that take a value.
_WITH_VALUE = ("-r", "--requirement", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target", "-c", "--constraint")


def main(arguments: list[str]) -> int:
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command == "install":
        return _install(rest)
    if command in ("list", "freeze"):
        for name, version in sorted(_installed().values(), key=lambda entry: entry[0].lower()):
            print(f"{name}=={version}")
        return 0
    if command == "show":
        return _show(rest)
    if command in ("--version", "-V"):
        print("pip of this sandbox, which has no network: `pip list` shows what is installed")
        return 0
    print(f"ERROR: `pip {command}` is not available: this sandbox has no network. `pip list` shows what is installed.", file=sys.stderr)
    return 1


def _install(arguments: list[str]) -> int:
    installed, missing = _installed(), []
    for requirement in _requirements(arguments):
        found = installed.get(_normalized(requirement))
        if found is None:
            missing.append(requirement)
        else:
            print(f"Requirement already satisfied: {found[0]} ({found[1]})")
    for requirement in missing:
        print(f"ERROR: {missing_modules.sentence(requirement)}", file=sys.stderr)
    return 1 if missing else 0


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
            names += [line.strip() for line in file if line.strip() and not line.lstrip().startswith(("#", "-"))]
    return [match[0] for name in names if (match := _REQUIREMENT.match(name)) is not None]


def _installed() -> dict[str, tuple[str, str]]:
    found = ((dist.metadata["Name"], dist.version) for dist in importlib.metadata.distributions())
    return {_normalized(name): (name, version) for name, version in found if name}


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
