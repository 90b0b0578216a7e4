"""Lets `urlopen` follow the variables of the proxy. It keeps those of its first request, and a container can get a network policy later."""

import functools
import types
from typing import Any


def follow_variables(module: types.ModuleType, _shell: object) -> None:
    open_url, install = module.urlopen, module.install_opener
    seen: dict[str, str] | None = None
    is_own = False

    @functools.wraps(install)
    def install_opener(opener: Any) -> None:
        nonlocal is_own
        is_own = opener is not None
        install(opener)

    @functools.wraps(open_url)
    def urlopen(*arguments: Any, **options: Any) -> Any:
        nonlocal seen
        proxies = module.getproxies()
        # The next request builds its opener. One that the code installed stays.
        if not is_own and proxies != seen:
            install(None)
        seen = proxies
        return open_url(*arguments, **options)

    module.urlopen, module.install_opener = urlopen, install_opener
