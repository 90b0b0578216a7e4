# %% messy CSV is cleaned
#| stdout: 3 rows, mean 1234.5
#| file: clean.csv
import io, pandas as pd
text = " Name ;Amount;Joined\n  ana ;1.234,50 €;03.01.2024\nBOB;n/a;2024-02-01\n;;\nana ;1.234,50 €;03.01.2024\nCé;1.234,50;12/31/2023\n"
df = pd.read_csv(io.StringIO(text), sep=";", dtype=str, skipinitialspace=True)
df.columns = df.columns.str.strip().str.lower()
df = df.dropna(how="all").drop_duplicates()
df["name"] = df["name"].str.strip().str.title()
df["amount"] = pd.to_numeric(df["amount"].str.replace(r"[€\s.]", "", regex=True).str.replace(",", "."), errors="coerce")
df["joined"] = pd.to_datetime(df["joined"], format="mixed", dayfirst=False)
df.to_csv("clean.csv", index=False)
print(f"{len(df)} rows, mean {df['amount'].mean():.1f}")

# %% pivot table as styled Excel with several sheets
#| file: report.xlsx
#| stdout: ['Data', 'Pivot'] 2
import pandas as pd, numpy as np
from openpyxl import load_workbook
from openpyxl.formatting.rule import ColorScaleRule
rng = np.random.default_rng(1)
df = pd.DataFrame({"region": rng.choice(["N", "S"], 50), "month": rng.integers(1, 5, 50), "sales": rng.integers(1, 100, 50)})
pivot = df.pivot_table(values="sales", index="region", columns="month", aggfunc="sum", fill_value=0)
with pd.ExcelWriter("/mnt/data/report.xlsx", engine="openpyxl") as writer:
    df.to_excel(writer, sheet_name="Data", index=False)
    pivot.style.background_gradient(cmap="Blues").to_excel(writer, sheet_name="Pivot")
book = load_workbook("/mnt/data/report.xlsx")
book["Pivot"].conditional_formatting.add("B2:E3", ColorScaleRule(start_type="min", start_color="FFFFFF", end_type="max", end_color="0000FF"))
book.save("/mnt/data/report.xlsx")
print(book.sheetnames, len(pivot))

# %% appends a sheet to a workbook
#| stdout: ['one', 'two']
import pandas as pd
pd.DataFrame({"a": [1]}).to_excel("book.xlsx", sheet_name="one", index=False)
with pd.ExcelWriter("book.xlsx", mode="a", engine="openpyxl", if_sheet_exists="replace") as writer:
    pd.DataFrame({"b": [2]}).to_excel(writer, sheet_name="two", index=False)
print(pd.ExcelFile("book.xlsx").sheet_names)

# %% argparse main with arguments of its program
#| stdout: Hello Ada, 3 times
import argparse, sys
def main(argv=None):
    parser = argparse.ArgumentParser(); parser.add_argument("--name", default="Ada"); parser.add_argument("-n", type=int, default=3)
    args = parser.parse_args(argv); print(f"Hello {args.name}, {args.n} times")
if __name__ == "__main__":
    main()

# %% sys.argv has no arguments
#| stdout: 1
import sys
print(len(sys.argv))

# %% click application with its test runner
#| image: standard
#| stdout: Hi Bo
import click
from click.testing import CliRunner
@click.command()
@click.option("--name")
def hi(name): click.echo(f"Hi {name}")
print(CliRunner().invoke(hi, ["--name", "Bo"]).output)

# %% a sample data set of seaborn needs the network and says so
#| error: URLError
#| hint: no network
import seaborn as sns
sns.load_dataset("titanic")

# %% sklearn data sets of the package load
#| stdout: (150, 4) (442, 10) (1797, 64)
from sklearn.datasets import load_diabetes, load_digits, load_iris
print(load_iris().data.shape, load_diabetes().data.shape, load_digits().data.shape)

# %% requests to a host says that there is no network
#| image: standard
#| error: ConnectionError
#| hint: no network
import requests
requests.get("https://api.github.com")

# %% httpx to a host says that there is no network
#| image: standard
#| error: ConnectError
#| hint: no network
import httpx
httpx.get("https://api.github.com")

# %% a FastAPI application served by uvicorn
#| image: standard
#| stdout: 200 {'sum': 5}
#| stderr: any
import threading, time, requests, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/add")
def add(a: int, b: int): return {"sum": a + b}
server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=8123, log_level="warning"))
threading.Thread(target=server.run, daemon=True).start()
while not server.started: time.sleep(0.05)
answer = requests.get("http://127.0.0.1:8123/add", params={"a": 2, "b": 3}); print(answer.status_code, answer.json())
server.should_exit = True

# %% a server as a child process, called with curl-like code
#| image: standard
#| stdout: hello.txt
import subprocess, sys, time, urllib.request, urllib.error
open("hello.txt", "w").write("hi")
child = subprocess.Popen([sys.executable, "-m", "http.server", "8765", "--bind", "127.0.0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for _ in range(100):
    try: print(urllib.request.urlopen("http://127.0.0.1:8765/").read().decode()); break
    except urllib.error.URLError: time.sleep(0.1)
child.terminate()

# %% UDP and a chat over loopback
#| image: standard
#| stdout: b'PING'
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); server.bind(("127.0.0.1", 9999))
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); client.sendto(b"ping", ("127.0.0.1", 9999))
data, peer = server.recvfrom(100); server.sendto(data.upper(), peer); print(client.recv(100))

# %% Flask's own run in a thread
#| image: standard
#| stdout: pong
#| stderr: any
import threading, time, urllib.request
from flask import Flask
app = Flask("demo")
@app.route("/ping")
def ping(): return "pong"
threading.Thread(target=lambda: app.run(port=5050, use_reloader=False), daemon=True).start()
for _ in range(100):
    try: print(urllib.request.urlopen("http://127.0.0.1:5050/ping").read().decode()); break
    except OSError: time.sleep(0.1)

# %% multiprocessing queue and manager
#| stdout: [0, 1, 4, 9] {'done': 4}
import multiprocessing as mp
def work(q, out, d):
    while (n := q.get()) is not None: out.put(n * n); d["done"] = d.get("done", 0) + 1
q, out, d = mp.Queue(), mp.Queue(), mp.Manager().dict()
p = mp.Process(target=work, args=(q, out, d)); p.start()
for n in range(4): q.put(n)
q.put(None); p.join(); print(sorted(out.get() for _ in range(4)), dict(d))

# %% timing decorator, generators and itertools
#| stdout: [1, 1, 2, 3, 5, 8]
import functools, itertools, time
def timed(f):
    @functools.wraps(f)
    def inner(*a): t = time.perf_counter(); r = f(*a); assert time.perf_counter() >= t; return r
    return inner
def fib():
    a, b = 1, 1
    while True: yield a; a, b = b, a + b
@timed
def first(n): return list(itertools.islice(fib(), n))
print(first(6))

# %% abstract classes, protocols and generics
#| stdout: Circle 12.57
from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import pi
from typing import Protocol, TypeVar
class Shape(ABC):
    @abstractmethod
    def area(self) -> float: ...
@dataclass(frozen=True, slots=True)
class Circle(Shape):
    r: float
    def area(self) -> float: return pi * self.r**2
print(type(Circle(2)).__name__, round(Circle(2).area(), 2))

# %% structural pattern matching
#| stdout: move 3 4
match {"op": "move", "at": [3, 4]}:
    case {"op": "move", "at": [x, y]}: print("move", x, y)

# %% a dashboard of four axes saved in high resolution
#| file: dashboard.png
#| figures: 1
import numpy as np, pandas as pd, matplotlib.pyplot as plt
fig, axes = plt.subplots(2, 2, figsize=(12, 8)); x = np.linspace(0, 10, 200)
axes[0, 0].plot(x, np.sin(x)); axes[0, 1].bar(["A", "B"], [3, 5]); axes[1, 0].hist(np.random.default_rng(0).normal(size=500), 30); axes[1, 1].pie([1, 2], labels=["x", "y"], autopct="%1.0f%%")
fig.suptitle("Übersicht – résumé"); fig.tight_layout(); fig.savefig("dashboard.png", dpi=200); plt.show()

# %% dual axes with dates and an annotation
#| figure
import matplotlib.dates as mdates, matplotlib.pyplot as plt, pandas as pd
days = pd.date_range("2024-01-01", periods=60); fig, ax = plt.subplots(); ax.plot(days, range(60), "r-"); twin = ax.twinx(); twin.bar(days, range(60), alpha=0.2)
ax.xaxis.set_major_formatter(mdates.DateFormatter("%d %b")); ax.annotate("peak", (days[50], 50), xytext=(days[10], 40), arrowprops={"arrowstyle": "->"}); fig.autofmt_xdate(); plt.show()

# %% a backend with windows degrades to inline figures
#| figure
import matplotlib
matplotlib.use("TkAgg")
import matplotlib.pyplot as plt
plt.plot([1, 2, 3]); plt.show()

# %% candlesticks and a moving average
#| image: standard
#| figure
import mplfinance as mpf, numpy as np, pandas as pd
rng = np.random.default_rng(3); close = 100 + rng.normal(size=60).cumsum(); index = pd.date_range("2024-01-01", periods=60, freq="B")
mpf.plot(pd.DataFrame({"Open": close - 0.5, "High": close + 1, "Low": close - 1, "Close": close, "Volume": 1000}, index=index), type="candle", mav=5, volume=True)

# %% sankey, treemap and sunburst with plotly
#| mime: application/vnd.plotly.v1+json
import plotly.express as px, plotly.graph_objects as go
go.Figure(go.Sankey(node={"label": ["a", "b", "c"]}, link={"source": [0, 0], "target": [1, 2], "value": [3, 4]})).show()
px.sunburst(names=["x", "y", "z"], parents=["", "x", "x"], values=[3, 1, 2])

# %% invoice as a PDF with a table and a logo
#| image: standard
#| file: invoice.pdf
#| stdout: Total 119.00
from PIL import Image
from pypdf import PdfReader
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Image as Picture, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle
Image.new("RGB", (200, 60), "navy").save("/tmp/logo.png")
rows = [["Item", "Qty", "Price"], ["Consulting", "1", "100.00"], ["VAT", "", "19.00"]]
table = Table(rows); table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.grey), ("BACKGROUND", (0, 0), (-1, 0), colors.lightblue)]))
SimpleDocTemplate("invoice.pdf", pagesize=A4).build([Picture("/tmp/logo.png", 100, 30), Paragraph("Invoice 2024-001", getSampleStyleSheet()["Title"]), Spacer(1, 12), table, Paragraph("Total 119.00 EUR", getSampleStyleSheet()["Normal"])])
print(PdfReader("invoice.pdf").pages[0].extract_text())

# %% encrypted PDF, watermark and rotation
#| image: standard
#| stdout: True 1
import io
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen import canvas
def page(text):
    data = io.BytesIO(); c = canvas.Canvas(data); c.drawString(100, 100, text); c.save(); return PdfReader(data)
writer = PdfWriter(); base = writer.add_page(page("content").pages[0]); base.merge_page(page("DRAFT").pages[0]); base.rotate(90); writer.encrypt("secret", algorithm="AES-256")
writer.write("locked.pdf"); reader = PdfReader("locked.pdf"); print(reader.is_encrypted, reader.decrypt("secret") and len(reader.pages))

# %% letters from a Word template
#| image: standard
#| file: letter-Ada.docx
#| stdout: Dear Ada
from docx import Document
from docxtpl import DocxTemplate
template = Document(); template.add_paragraph("Dear {{ name }}, you owe {{ amount }} EUR."); template.save("/tmp/t.docx")
letter = DocxTemplate("/tmp/t.docx"); letter.render({"name": "Ada", "amount": 5}); letter.save("letter-Ada.docx")
print(Document("letter-Ada.docx").paragraphs[0].text)

# %% slides from a table with speaker notes
#| image: standard
#| file: deck.pptx
#| stdout: 3
from pptx import Presentation
from pptx.util import Inches, Pt
deck = Presentation()
for number in range(3):
    slide = deck.slides.add_slide(deck.slide_layouts[5]); slide.shapes.title.text = f"Slide {number}"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(6), Inches(1)).table; table.cell(0, 0).text = "Key"; table.cell(1, 1).text = str(number)
    slide.notes_slide.notes_text_frame.text = "say this"
deck.save("deck.pptx"); print(len(Presentation("deck.pptx").slides))

# %% symmetric encryption and hashes
#| image: standard
#| stdout: b'attack at dawn' 64
import hashlib, hmac, secrets
from cryptography.fernet import Fernet
box = Fernet(Fernet.generate_key()); print(box.decrypt(box.encrypt(b"attack at dawn")), len(hmac.new(secrets.token_bytes(16), b"x", hashlib.sha256).hexdigest()))

# %% barcodes and calendar files
#| image: standard
#| file: code.svg
#| file: event.ics
import barcode, datetime
from icalendar import Calendar, Event
barcode.get("ean13", "123456789012").save("code")
event = Event(); event.add("summary", "Meeting"); event.add("dtstart", datetime.datetime(2024, 5, 1, 9)); calendar = Calendar(); calendar.add_component(event); open("event.ics", "wb").write(calendar.to_ical())

# %% image filters, a collage and a palette
#| file: collage.jpg
#| figure
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps
base = Image.radial_gradient("L").convert("RGB"); tiles = [base.filter(ImageFilter.GaussianBlur(5)), ImageOps.invert(base), ImageEnhance.Contrast(base).enhance(2), base.filter(ImageFilter.FIND_EDGES)]
sheet = Image.new("RGB", (512, 512)); [sheet.paste(tile, (256 * (i % 2), 256 * (i // 2))) for i, tile in enumerate(tiles)]
ImageDraw.Draw(sheet).text((10, 10), "collage", fill="red"); sheet.save("collage.jpg", quality=90); display(sheet)

# %% a chord as a stereo WAV file
#| file: chord.wav
#| stdout: 44100 (44100, 2)
import numpy as np
from IPython.display import Audio, display
from scipy.io import wavfile
t = np.arange(44100) / 44100; chord = sum(np.sin(2 * np.pi * f * t) for f in (261.6, 329.6, 392.0)) / 3
wavfile.write("chord.wav", 44100, (np.stack([chord, chord], 1) * 32767).astype(np.int16)); rate, data = wavfile.read("chord.wav"); print(rate, data.shape); display(Audio("chord.wav"))

# %% Monte Carlo simulation with a seed
#| stdout: 3.1
import numpy as np
rng = np.random.default_rng(42); xy = rng.random((400_000, 2)); print(f"{4 * ((xy**2).sum(1) < 1).mean():.2f}")

# %% sudoku by backtracking
#| stdout: 534678912
grid = [list(row) for row in "530070000 600195000 098000060 800060003 400803001 700020006 060000280 000419005 000080079".split()]
def solve():
    for r in range(9):
        for c in range(9):
            if grid[r][c] == "0":
                for d in "123456789":
                    box = [grid[r // 3 * 3 + i][c // 3 * 3 + j] for i in range(3) for j in range(3)]
                    if d not in grid[r] and d not in [row[c] for row in grid] and d not in box:
                        grid[r][c] = d
                        if solve(): return True
                        grid[r][c] = "0"
                return False
    return True
solve(); print("".join(grid[0]))

# %% A/B test with power and a confidence interval
#| image: standard
#| stdout: p=0.0
import numpy as np
from statsmodels.stats.proportion import proportion_confint, proportions_ztest
z, p = proportions_ztest([200, 260], [2000, 2000]); low, high = proportion_confint(260, 2000); print(f"p={p:.4f} {low:.3f}-{high:.3f}")

# %% forecast with exponential smoothing and a plot
#| image: standard
#| figure
import matplotlib.pyplot as plt, numpy as np, pandas as pd
from statsmodels.tsa.holtwinters import ExponentialSmoothing
y = pd.Series(10 + np.arange(48) * 0.3 + 3 * np.sin(np.arange(48) * np.pi / 6), index=pd.date_range("2020-01-01", periods=48, freq="MS"))
fit = ExponentialSmoothing(y, trend="add", seasonal="add", seasonal_periods=12).fit(); y.plot(label="actual"); fit.forecast(12).plot(label="forecast"); plt.legend(); plt.show()

# %% text classification with a pipeline and a confusion matrix
#| stdout: spam
#| figure
import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.pipeline import make_pipeline
X, y = ["buy cheap pills", "win money now", "meeting at noon", "see you tomorrow"] * 5, ["spam", "spam", "ham", "ham"] * 5
model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(X, y); print(model.predict(["cheap money"])[0]); ConfusionMatrixDisplay.from_estimator(model, X, y); plt.show()

# %% a very long output keeps its head and its tail
#| stdout: last line
for n in range(60_000): print("line", n, "x" * 30)
print("last line")

# %% a number with thousands of digits
#| stdout: 2568
import math, sys
sys.set_int_max_str_digits(0); print(len(str(math.factorial(1000))))

# %% tkinter is absent from slim and says so
#| until: slim
#| error: ModuleNotFoundError
import tkinter

# %% text adventure with input() says what to do
#| error: NoKeyboardError
#| hint: give the value in the code
name = input("What is your name? ")

# %% JSON is flattened and written as Excel
#| file: users.xlsx
#| stdout: address.city
import json, pandas as pd
data = json.loads('[{"id": 1, "address": {"city": "Rome"}, "tags": ["a", "b"]}, {"id": 2, "address": {"city": "Oslo"}, "tags": []}]')
df = pd.json_normalize(data); df.to_excel("users.xlsx", index=False); print(df.columns.tolist())

# %% IPython displays of Markdown, HTML, JSON and LaTeX
#| mime: text/markdown
#| mime: text/html
#| mime: text/latex
from IPython.display import HTML, JSON, Latex, Markdown, display
display(Markdown("# Title"), HTML("<b>x</b>"), Latex("$x^2$"), JSON({"a": 1}))

# %% file dialogs and opened files of a desktop are explained
#| error: AttributeError
import os
os.startfile("report.xlsx")

# %% e-mail addresses are checked by pydantic
#| image: standard
#| stdout: value is not a valid email address
from pydantic import BaseModel, EmailStr, ValidationError
class Person(BaseModel):
    email: EmailStr
print(Person(email="ann@example.com").email)
try: Person(email="ann")
except ValidationError as error: print(error)

# %% tables as programs for ChatGPT show them
#| mime: application/vnd.dataresource+json
#| stdout: Sales
import ace_tools as tools
import pandas as pd
from caas_jupyter_tools import display_dataframe_to_user
tools.display_dataframe_to_user(name="Sales", dataframe=pd.DataFrame({"month": ["Jan"], "revenue": [100]}))
display_dataframe_to_user("Costs", pd.DataFrame({"month": ["Jan"], "cost": [60]}))

# %% modules that programs import without a second thought
#| image: standard
#| stdout: ok
import tkinter, turtle, setuptools, pkg_resources, pooch, rsa, texttable, natsort, Levenshtein, flask_login, flask_wtf, xlwt
print("ok")
#| next
import tkinter, turtle, natsort, Levenshtein
assert natsort.natsorted(["a10", "a2"]) == ["a2", "a10"] and Levenshtein.distance("ab", "ac") == 1
print("ok")

# %% a window says that there is no display
#| image: standard
#| error: TclError
#| hint: no display
import tkinter
tkinter.Tk()
