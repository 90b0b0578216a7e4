"""plot(table, question): a model writes the plot of a table, Cellblock draws it. Nothing of the model runs in this process."""

import io
import json
import os
import sys
import urllib.request
import uuid

URL = os.environ.get("CELLBLOCK_URL", "http://127.0.0.1:8787")
KEY = os.environ.get("CELLBLOCK_API_KEY", "")
MODEL = os.environ.get("CELLBLOCK_MODEL", "demo")


def call(path, data=None, content_type="application/json"):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": content_type}
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, headers), timeout=300) as answer:
        return answer.read()


def upload(container, name, content):
    mark = uuid.uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/csv\r\n\r\n'
    body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
    call(f"/v1/containers/{container}/files", body, f"multipart/form-data; boundary={mark}")


def plot(table, question, path="plot.png"):
    """Writes the plot to `path`. `table` has `to_csv`, as a pandas DataFrame, or is CSV text. Raises RuntimeError if no plot was made."""
    if hasattr(table, "to_csv"):
        buffer = io.StringIO()
        table.to_csv(buffer, index=False)
        table = buffer.getvalue()
    container = json.loads(call("/v1/containers", json.dumps({"name": "plot"}).encode()))["id"]
    upload(container, "table.csv", table.encode())
    columns = table.split("\n", 1)[0].strip()
    prompt = f"/mnt/data/table.csv has the columns {columns}. {question}\nSave the plot as /mnt/data/plot.png."
    request = {"model": MODEL, "input": prompt, "tools": [{"type": "code_interpreter", "container": container}]}
    call("/v1/responses", json.dumps(request).encode())
    files = json.loads(call(f"/v1/containers/{container}/files"))["data"]
    found = [file["id"] for file in files if file["path"].endswith("/plot.png")]
    if not found:
        raise RuntimeError("The model made no plot. Ask again in other words, or name the columns to draw.")
    with open(path, "wb") as out:
        out.write(call(f"/v1/containers/{container}/files/{found[0]}/content"))
    return path


DEMO = """
```python
import pandas as pd, matplotlib.pyplot as plt
pd.read_csv("table.csv").plot.bar(x="month", y="total")
plt.savefig("plot.png")
```
"""

if __name__ == "__main__":
    if KEY == "":
        sys.exit("CELLBLOCK_API_KEY is not set. `npm start` prints a key: CELLBLOCK_API_KEY=ck_… python3 examples/plot-dataframe/plot.py")
    target = sys.argv[1] if len(sys.argv) > 1 else "plot.png"
    # The demo model is no language model: it runs the code of the question.
    question = "Draw the total of each month as bars." + (DEMO if MODEL == "demo" else "")
    print("wrote", plot("month,total\nJan,3\nFeb,5\nMar,4\n", question, target))
