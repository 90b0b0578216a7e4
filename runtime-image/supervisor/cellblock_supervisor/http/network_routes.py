"""The network of a container with a policy. The gateway decides; this only connects it with user code."""

from ..sandbox import Sandbox
from ..worker.isolation import loopback
from .body_fields import check_version
from .messages import HttpError, Reply, Request, json_reply

_MAX_CA_BYTES = 64 * 1024


async def put(sandbox: Sandbox, request: Request) -> Reply:
    body = await request.json(2 * _MAX_CA_BYTES)
    check_version(body)
    ca = body.get("ca")
    if not isinstance(ca, str) or not ca.isascii() or len(ca) > _MAX_CA_BYTES or not ca.startswith("-----BEGIN CERTIFICATE-----"):
        raise HttpError("bad_request", f"ca must be certificates in PEM of at most {_MAX_CA_BYTES} bytes")
    if not loopback.is_installed():
        raise HttpError("conflict", "this image lacks the loopback layer, so its programs reach no proxy")
    if sandbox.network is None:
        # Imported here, so that a sandbox without a policy does without it.
        from ..network.network import Network

        sandbox.network = Network()
    try:
        ca_file = await sandbox.network.open(ca)
    except OSError as error:
        raise HttpError("unavailable", f"the proxy for user code could not be opened: {error.strerror}") from None
    return json_reply({"proxy": f"http://127.0.0.1:{loopback.PROXY_PORT}", "ca_file": ca_file})


async def delete(sandbox: Sandbox, _request: Request) -> Reply:
    if sandbox.network is not None:
        sandbox.network.close()
    return Reply(204)


async def accept(sandbox: Sandbox, _request: Request) -> Reply:
    network = sandbox.network
    if network is None or not network.is_open:
        raise HttpError("conflict", "the network of this sandbox is closed")
    if not network.has_space:
        raise HttpError("too_large", "enough connections wait for user code")
    return Reply(101, upgrade=network.serve_gateway)
