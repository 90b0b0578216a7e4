"""Runs code in a Cellblock container and downloads what it wrote. Needs Python 3.9 and no package."""

import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("CELLBLOCK_URL", "http://127.0.0.1:8787")
KEY = os.environ.get("CELLBLOCK_API_KEY")

CODE = """
import pandas as pd
squares = pd.DataFrame({"n": range(5)}).assign(square=lambda t: t.n ** 2)
squares.to_csv("squares.csv", index=False)
print(squares.square.sum())
"""


def call(method, path, body=None):
    """Returns the bytes of the answer. Ends the program with the server's sentence if it refuses."""
    request = urllib.request.Request(
        URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=90) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        sys.exit(json.load(error)["error"]["message"])
    except urllib.error.URLError as error:
        sys.exit(f"No server answers at {URL} ({error.reason}). Start one with `npm start`, or set CELLBLOCK_URL.")


if KEY is None:
    sys.exit("CELLBLOCK_API_KEY is not set. `npm start` prints a key: CELLBLOCK_API_KEY=ck_… python3 examples/python-quickstart/main.py")

container = json.loads(call("POST", "/v1/containers", {"name": "python-quickstart"}))["id"]
execution = json.loads(call("POST", f"/v1/containers/{container}/executions?wait=60", {"code": CODE}))
print("status ", execution["status"])
print("printed", execution["stdout"].strip())
for file in execution["files"]:
    content = call("GET", f"/v1/containers/{container}/files/{file['id']}/content")
    print("file   ", file["path"], len(content), "bytes")
call("DELETE", f"/v1/containers/{container}")
