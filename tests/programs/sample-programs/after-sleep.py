# %% a Word document and its parts continue
#| image: standard
#| stdout: ['Report', 'first part', 'second'] 1 True
from docx import Document
document = Document()
document.add_heading("Report")
paragraph = document.add_paragraph("first")
table = document.add_table(1, 2)
#| sleep
paragraph.add_run(" part")
document.add_paragraph("second")
table.cell(0, 1).text = "cell"
document.save("report.docx")
again = Document("report.docx")
print([one.text for one in again.paragraphs], len(again.tables), again.tables[0].cell(0, 1).text == "cell")

# %% a presentation with a chart continues
#| image: standard
#| stdout: 2 ['a', 'b'] Title
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
deck = Presentation()
slide = deck.slides.add_slide(deck.slide_layouts[5])
data = CategoryChartData(); data.categories = ["a", "b"]; data.add_series("s", (1, 2))
chart = slide.shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(1), Inches(3), Inches(3), data).chart
#| sleep
slide.shapes.title.text = "Title"
deck.slides.add_slide(deck.slide_layouts[0])
deck.save("deck.pptx")
again = Presentation("deck.pptx")
print(len(again.slides), list(chart.plots[0].categories), again.slides[0].shapes.title.text)

# %% workbooks, PDF files and XML trees continue
#| image: standard
#| stdout: 3 2 1 True x <a><b>1</b><c/></a>
import io, openpyxl
from lxml import etree, html
from pypdf import PdfReader, PdfWriter
book = openpyxl.Workbook(); sheet = book.active; sheet["A1"] = 3
writer = PdfWriter(); writer.add_blank_page(100, 100)
content = io.BytesIO(); writer.write(content); reader = PdfReader(content); page = reader.pages[0]
root = etree.fromstring("<a><b>1</b></a>"); first = root[0]
paragraph = html.fromstring("<html><body><p class=x>one<br>two</p></body></html>").xpath("//p")[0]
#| sleep
writer.add_page(page)
etree.SubElement(root, "c")
print(sheet["A1"].value, len(writer.pages), len(reader.pages), first.getparent() is root, paragraph.get("class"), etree.tostring(root).decode())

# %% databases in memory and in files continue
#| image: standard
#| stdout: [(1,)] [(2,)] [3]
import duckdb, h5py
memory = duckdb.connect(); memory.execute("create table t as select 1 as a")
file = duckdb.connect("/mnt/data/rows.duckdb"); file.execute("create table t as select 2 as a")
arrays = h5py.File("/mnt/data/arrays.h5", "w"); arrays["x"] = [3]
#| sleep
print(memory.execute("from t").fetchall(), file.execute("from t").fetchall(), arrays["x"][:].tolist())

# %% an account with a lock, a tree with weak references and a drawing continue
#| stdout: 150 True (255, 0, 0) 7
import threading, weakref
from PIL import Image, ImageDraw
class Account:
    def __init__(self): self.lock, self.balance = threading.Lock(), 100
    def deposit(self, amount):
        with self.lock: self.balance += amount
class Node:
    def __init__(self, parent=None): self.parent = weakref.ref(parent) if parent else None
class Settings:
    def __init__(self, values): self._values = values
    def __getattr__(self, name): return self._values[name]
account, root, settings = Account(), Node(), Settings({"depth": 7})
leaf = Node(root)
picture = Image.new("RGB", (4, 4)); drawing = ImageDraw.Draw(picture)
#| sleep
account.deposit(50)
drawing.point((1, 1), fill="red")
print(account.balance, leaf.parent() is root, picture.getpixel((1, 1)), settings.depth)

# %% the folder in /tmp, the umask and time limits of sockets continue
#| stdout: /tmp/work/deep 0o77 5.0
import os, socket
os.makedirs("/tmp/work/deep"); os.chdir("/tmp/work/deep"); os.umask(0o077); socket.setdefaulttimeout(5)
#| sleep
print(os.getcwd(), oct(os.umask(0o022)), socket.getdefaulttimeout())

# %% a shell continues with its options and traps
#| language: bash
#| stdout: /home/worker/project 3 0027 pipefail on nullglob on trap -- 'echo bye' SIGUSR1
mkdir ~/project; cd ~/project; count=3; set -o pipefail; shopt -s nullglob; umask 027; trap 'echo bye' USR1
#| sleep
echo $PWD $count $(umask) $(set -o | grep pipefail) $(shopt nullglob) "$(trap -p)"

# %% what cannot be kept is named with its reason
#| lost: variable engine
#| lost: signal handler SIGALRM
#| stdout: NameError
import signal
def count():
    yield 1
engine = count()
def on_alarm(number, frame): raise TimeoutError
signal.signal(signal.SIGALRM, on_alarm);
#| sleep
try: engine
except NameError as error: print(type(error).__name__)
