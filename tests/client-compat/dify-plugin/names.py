"""Names below the domain of the sandboxes lead to the proxy of the test. Dify's SDK runs on gevent, which takes its resolver from GEVENT_RESOLVER."""

import os
import socket

from gevent.resolver.blocking import Resolver

DOMAIN = "." + os.environ["DIFY_DOMAIN"]
PROXY_PORT = int(os.environ["DIFY_PROXY_PORT"])


class TestNames(Resolver):
    def getaddrinfo(self, host: object, port: object, *rest: object, **more: object) -> list:
        name = host.decode() if isinstance(host, bytes) else host
        if isinstance(name, str) and name.endswith(DOMAIN):
            return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", PROXY_PORT))]
        return super().getaddrinfo(host, port, *rest, **more)
