"""Skills: listed, and written by the orchestrator only."""

import errno

from .. import skills
from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply


async def listing(_sandbox: Sandbox, _request: Request) -> Reply:
    return json_reply({"folders": skills.folders()})


async def put(_sandbox: Sandbox, request: Request) -> Reply:
    folder = request.path[1]
    if not skills.is_folder_name(folder):
        raise HttpError("bad_request", "the name of a skill's folder has lower-case letters, digits and single hyphens")
    try:
        await skills.write(folder, request.body)
    except skills.BundleError as error:
        raise HttpError("bad_request", str(error)) from None
    except ConnectionError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise HttpError("disk_full", "the folder of skills is full") from None
        raise HttpError("internal", f"the skill could not be written: {error.strerror}") from None
    return Reply(204)
