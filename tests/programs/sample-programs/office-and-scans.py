# %% text of a picture with tesseract
#| image: full
#| stdout: Invoice 2024
import pytesseract
from PIL import Image, ImageDraw, ImageFont
picture = Image.new("RGB", (700, 120), "white")
ImageDraw.Draw(picture).text((20, 30), "Invoice 2024", fill="black", font=ImageFont.truetype("DejaVuSans.ttf", 48))
print(pytesseract.image_to_string(picture))

# %% words with their boxes, and German text
#| image: full
#| stdout: Straße
#| stdout: eng
import pytesseract
from PIL import Image, ImageDraw, ImageFont
picture = Image.new("L", (900, 120), 255)
ImageDraw.Draw(picture).text((20, 30), "Große Straße Köln", fill=0, font=ImageFont.truetype("LiberationSans-Regular.ttf", 48))
data = pytesseract.image_to_data(picture, lang="deu", output_type=pytesseract.Output.DATAFRAME)
print(data.dropna()["text"].tolist()); print(pytesseract.get_languages())

# %% scanned PDF becomes text
#| image: full
#| stdout: Total 99
import pytesseract
from pdf2image import convert_from_path
from PIL import Image, ImageDraw, ImageFont
page = Image.new("RGB", (1240, 400), "white"); ImageDraw.Draw(page).text((100, 100), "Total 99", fill="black", font=ImageFont.truetype("DejaVuSans.ttf", 80))
page.save("/mnt/data/scan.pdf")
print(pytesseract.image_to_string(convert_from_path("/mnt/data/scan.pdf", dpi=150)[0]))

# %% pandoc makes a Word document from Markdown
#| image: full
#| file: report.docx
#| stdout: Heading
open("/mnt/data/report.md", "w").write("# Heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n* item with $x^2$\n")
!pandoc /mnt/data/report.md -o /mnt/data/report.docx && pandoc /mnt/data/report.docx -t plain

# %% pypandoc converts between formats
#| image: full
#| stdout: <h1
#| file: slides.pptx
import pypandoc
print(pypandoc.convert_text("# Title\n\ntext", "html", format="md"))
pypandoc.convert_text("# One\n\n- a\n\n# Two\n\n- b", "pptx", format="md", outputfile="/mnt/data/slides.pptx");

# %% Word document becomes a PDF with LibreOffice
#| image: full
#| file: letter.pdf
#| stdout: Dear reader
import subprocess
from docx import Document
document = Document(); document.add_heading("Letter"); document.add_paragraph("Dear reader, Ünïcode 中文"); document.save("/mnt/data/letter.docx")
subprocess.run(["soffice", "--headless", "--convert-to", "pdf", "--outdir", "/mnt/data", "/mnt/data/letter.docx"], check=True, capture_output=True)
print(subprocess.run(["pdftotext", "/mnt/data/letter.pdf", "-"], capture_output=True, text=True).stdout)

# %% workbook with formulas is calculated by LibreOffice
#| image: full
#| file: sums.csv
#| stdout: 6
from openpyxl import Workbook
book = Workbook(); sheet = book.active
for value in (1, 2, 3): sheet.append([value])
sheet["A4"] = "=SUM(A1:A3)"; book.save("/mnt/data/sums.xlsx")
!libreoffice --headless --convert-to csv --outdir /mnt/data /mnt/data/sums.xlsx >/dev/null
print(open("/mnt/data/sums.csv").read())

# %% slides become pictures
#| image: full
#| file: deck.pdf
#| stdout: 1 page
from pptx import Presentation
from pdf2image import convert_from_path
deck = Presentation(); deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "Title"; deck.save("/mnt/data/deck.pptx")
!soffice --headless --convert-to pdf --outdir /mnt/data /mnt/data/deck.pptx >/dev/null
print(len(convert_from_path("/mnt/data/deck.pdf", dpi=50)), "page")

# %% old Word format is read
#| image: full
#| stderr: any
#| file: old.doc
#| stdout: Content
from docx import Document
document = Document(); document.add_paragraph("Content"); document.save("/mnt/data/new.docx")
!cd /mnt/data && soffice --headless --convert-to doc:"MS Word 97" new.docx --outdir /mnt/data >/dev/null && mv new.doc old.doc && soffice --headless --convert-to txt:Text old.doc >/dev/null && cat old.txt

# %% HTML and CSS become a PDF with WeasyPrint
#| image: full
#| file: page.pdf
#| stdout: Invoice
from weasyprint import HTML
import pypdf
HTML(string="<style>@page {size: A5} h1 {color: navy; font-family: Arial}</style><h1>Invoice</h1><table border=1><tr><td>1</td></tr></table>").write_pdf("/mnt/data/page.pdf")
print(pypdf.PdfReader("/mnt/data/page.pdf").pages[0].extract_text())

# %% programs search files
#| image: full
#| stderr: any
#| stdout: notes.txt:1:needle
#| stdout: notes.txt
open("/mnt/data/notes.txt", "w").write("needle\n")
!cd /mnt/data && rg -n needle --with-filename && fd notes
