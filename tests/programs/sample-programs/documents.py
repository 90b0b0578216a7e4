# %% Word document with heading, table and picture
#| image: standard
#| file: report.docx
import matplotlib.pyplot as plt
from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Inches, Pt, RGBColor
plt.plot([1, 2, 3]); plt.savefig("/mnt/data/p.png"); plt.close()
doc = Document()
doc.add_heading("Quarterly report", 0)
run = doc.add_paragraph("Text with ").add_run("bold"); run.bold = True; run.font.size = Pt(14); run.font.color.rgb = RGBColor(200, 0, 0)
table = doc.add_table(rows=1, cols=2); table.style = "Light Grid Accent 1"
table.rows[0].cells[0].text = "a"
doc.add_picture("/mnt/data/p.png", width=Inches(4))
doc.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.CENTER
doc.save("/mnt/data/report.docx")

# %% PowerPoint with chart, table and picture
#| image: standard
#| file: deck.pptx
#| stdout: 3 slides
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
deck = Presentation()
deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "Sales"
slide = deck.slides.add_slide(deck.slide_layouts[5])
data = CategoryChartData(); data.categories = ["Q1", "Q2"]; data.add_series("2024", (1.5, 2.5))
slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(6), Inches(4), data)
deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1))
deck.save("/mnt/data/deck.pptx")
print(len(Presentation("/mnt/data/deck.pptx").slides), "slides")

# %% PDF report with reportlab platypus
#| image: standard
#| file: report.pdf
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle
styles = getSampleStyleSheet()
table = Table([["a", "b"], [1, 2]]); table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.grey)]))
SimpleDocTemplate("/mnt/data/report.pdf", pagesize=A4).build([Paragraph("Title", styles["Title"]), Spacer(1, 12), table])

# %% reads PDF text and tables
#| image: standard
#| stdout: Invoice 42
#| stdout: 1 page
import pdfplumber, pypdf, PyPDF2, pypdfium2
from reportlab.pdfgen import canvas
page = canvas.Canvas("/mnt/data/in.pdf"); page.drawString(100, 700, "Invoice 42"); page.save()
with pdfplumber.open("/mnt/data/in.pdf") as pdf:
    print(pdf.pages[0].extract_text(), pdf.pages[0].extract_tables())
print(len(pypdf.PdfReader("/mnt/data/in.pdf").pages), "page", PyPDF2.PdfReader("/mnt/data/in.pdf").pages[0].extract_text())
pypdfium2.PdfDocument("/mnt/data/in.pdf")[0].render(scale=1).to_pil().save("/mnt/data/page.png")

# %% merges and splits PDF files
#| image: standard
#| file: merged.pdf
#| stdout: 2
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen import canvas
for name in "ab":
    page = canvas.Canvas(f"/mnt/data/{name}.pdf"); page.drawString(72, 72, name); page.save()
writer = PdfWriter()
for name in "ab":
    writer.append(f"/mnt/data/{name}.pdf")
writer.add_metadata({"/Title": "merged"}); writer.write("/mnt/data/merged.pdf")
print(len(PdfReader("/mnt/data/merged.pdf").pages))

# %% PDF with fpdf2 and Unicode text
#| image: standard
#| file: unicode.pdf
from fpdf import FPDF
pdf = FPDF(); pdf.add_page()
pdf.add_font("DejaVu", fname="/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"); pdf.set_font("DejaVu", size=14)
pdf.cell(text="Ünïcode Ελλάδα Україна"); pdf.output("/mnt/data/unicode.pdf")

# %% PDF to text and pictures with poppler
#| image: standard
#| stdout: Hello poppler
#| file: page-1.png
from reportlab.pdfgen import canvas
page = canvas.Canvas("/mnt/data/x.pdf"); page.drawString(72, 700, "Hello poppler"); page.save()
!pdftotext /mnt/data/x.pdf - && pdftoppm -png -r 50 /mnt/data/x.pdf /mnt/data/page && pdfinfo /mnt/data/x.pdf | grep Pages

# %% pdf2image renders pages
#| image: standard
#| stdout: (
from pdf2image import convert_from_path
from reportlab.pdfgen import canvas
page = canvas.Canvas("/mnt/data/x.pdf"); page.drawString(72, 700, "x"); page.save()
print(convert_from_path("/mnt/data/x.pdf", dpi=50)[0].size)

# %% Markdown to HTML
#| image: standard
#| stdout: <h1>
#| stdout: <table>
import markdown
print(markdown.markdown("# Title\n\n|a|b|\n|-|-|\n|1|2|", extensions=["tables", "fenced_code"]))

# %% parses HTML with BeautifulSoup
#| image: standard
#| stdout: ['a', 'b']
from bs4 import BeautifulSoup
html = "<ul><li>a</li><li>b</li></ul>"
for parser in ("html.parser", "lxml", "html5lib"):
    items = [li.text for li in BeautifulSoup(html, parser).select("ul > li")]
print(items)

# %% XML with lxml and XPath
#| image: standard
#| stdout: 2
from lxml import etree
root = etree.fromstring("<r><i n='1'/><i n='2'/></r>")
print(len(root.xpath("//i[@n]")))

# %% YAML, TOML and JSON configuration
#| image: standard
#| stdout: {'a': [1, 2]}
import json, tomllib, toml, yaml
print(yaml.safe_load("a: [1, 2]"))
assert tomllib.loads("x = 1") == toml.loads("x = 1") == json.loads('{"x": 1}')

# %% detects encodings
#| image: standard
#| stdout: größeren
import chardet, charset_normalizer
data = "Käse und Brötchen für alle größeren Gäste".encode("latin-1")
print(data.decode(chardet.detect(data)["encoding"]))
assert charset_normalizer.from_bytes("häßlich".encode()).best().encoding

# %% a notebook built with nbformat and converted to HTML
#| image: standard
#| file: book.html
#| stderr: any
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
nbformat.write(new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell("1 + 1")]), "/mnt/data/book.ipynb")
!jupyter nbconvert --to html /mnt/data/book.ipynb

# %% e-mail messages
#| stdout: Subject: =?utf-8?
from email.message import EmailMessage
message = EmailMessage(); message["Subject"] = "Grüße"; message["To"] = "a@example.org"; message.set_content("Hallo")
message.add_attachment(b"x", maintype="application", subtype="octet-stream", filename="x.bin")
print(message.as_string()[:40])

# %% Jinja template to HTML file
#| file: page.html
from jinja2 import Template
open("/mnt/data/page.html", "w").write(Template("<ul>{% for i in items %}<li>{{ i }}</li>{% endfor %}</ul>").render(items=[1, 2]))

# %% Word template is filled
#| image: standard
#| stdout: Dear Ada, 2 items
import docx
from docxtpl import DocxTemplate
letter = docx.Document(); letter.add_paragraph("Dear {{ name }}, {{ items|length }} items"); letter.save("letter.docx")
template = DocxTemplate("letter.docx"); template.render({"name": "Ada", "items": [1, 2]}); template.save("filled.docx")
print(docx.Document("filled.docx").paragraphs[0].text)

# %% encrypted PDF is opened with its password
#| image: standard
#| stdout: True 1
from pypdf import PdfReader, PdfWriter
writer = PdfWriter(); writer.add_blank_page(100, 100); writer.encrypt("secret"); writer.write("locked.pdf")
reader = PdfReader("locked.pdf"); locked = reader.is_encrypted; reader.decrypt("secret"); print(locked, len(reader.pages))

# %% calendar file is written and read
#| image: standard
#| stdout: ['Meeting'] 09:00
import datetime as dt
from icalendar import Calendar, Event
calendar, event = Calendar(), Event()
event.add("summary", "Meeting"); event.add("dtstart", dt.datetime(2024, 1, 1, 9, tzinfo=dt.timezone.utc)); calendar.add_component(event)
open("meeting.ics", "wb").write(calendar.to_ical())
events = Calendar.from_ical(open("meeting.ics").read()).walk("VEVENT")
print([str(one["summary"]) for one in events], f"{events[0]['dtstart'].dt:%H:%M}")

# %% a Chinese report by ReportLab, with fonts that models name
#| image: standard
#| stdout: 销售报告 Sales 2024
#| stdout: [['产品', '数量'], ['苹果', '10']]
#| file: report.pdf
import pdfplumber
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, TableStyle
pdfmetrics.registerFont(TTFont("SimSun", "SimSun.ttf"))
pdfmetrics.registerFont(TTFont("WQY", "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc", subfontIndex=0))
table = Table([["产品", "数量"], ["苹果", "10"]], style=TableStyle([("FONTNAME", (0, 0), (-1, -1), "WQY"), ("GRID", (0, 0), (-1, -1), 1, colors.grey)]))
SimpleDocTemplate("/mnt/data/report.pdf", pagesize=A4).build([Paragraph("销售报告 Sales 2024", ParagraphStyle("cn", fontName="SimSun", fontSize=14)), table])
with pdfplumber.open("/mnt/data/report.pdf") as pdf:
    print(pdf.pages[0].extract_text(), pdf.pages[0].extract_tables()[0])

# %% fonts of fpdf2 by the names of their files
#| image: standard
#| file: a.pdf
#| stdout: 你好 abc
from fpdf import FPDF
from pypdf import PdfReader
pdf = FPDF(); pdf.add_page()
for name, file in (("Arial2", "arial.ttf"), ("DejaVu", "DejaVuSans.ttf"), ("SimHei", "simhei.ttf")):
    pdf.add_font(name, "", file)
pdf.set_font("SimHei", size=16); pdf.cell(0, 10, "你好 abc"); pdf.output("/mnt/data/a.pdf")
print(PdfReader("/mnt/data/a.pdf").pages[0].extract_text())

# %% an encrypted workbook is opened with its password
#| image: standard
#| stdout: 42
import io, msoffcrypto, openpyxl
book = openpyxl.Workbook(); book.active["A1"] = 42; book.save("plain.xlsx")
with open("plain.xlsx", "rb") as plain, open("secret.xlsx", "wb") as secret:
    msoffcrypto.OfficeFile(plain).encrypt("password", secret)
opened = io.BytesIO()
with open("secret.xlsx", "rb") as file:
    office = msoffcrypto.OfficeFile(file); office.load_key(password="password"); office.decrypt(opened)
print(openpyxl.load_workbook(opened).active["A1"].value)

# %% compound files, such as messages of Outlook, are read
#| image: standard
#| stdout: [['Workbook']]
import olefile, xlwt
book = xlwt.Workbook(); book.add_sheet("s").write(0, 0, 1); book.save("old.xls")
print(olefile.OleFileIO("old.xls").listdir())
