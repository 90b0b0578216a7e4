# %% pandas groups and aggregates
#| stdout: north  450
#| result: 3 rows
import pandas as pd
df = pd.DataFrame({"region": ["north", "south", "north"], "sales": [150, 200, 300]})
print(df.groupby("region")["sales"].sum().to_string().replace("    ", "  "))
f"{len(df)} rows"

# %% head() of a wide table shows every column
#| stdout: col19
#| not-stdout: ...
import numpy as np, pandas as pd
df = pd.DataFrame(np.arange(100).reshape(5, 20), columns=[f"col{i}" for i in range(20)])
print(df.head())

# %% a DataFrame as the last expression is a table
#| mime: text/html
#| mime: application/vnd.dataresource+json
#| result: Ada
import pandas as pd
pd.DataFrame({"name": ["Ada", "Alan"], "born": [1815, 1912]})

# %% reads CSV with dates and resamples by month
#| stdout: 2024-02-01
import io, pandas as pd
text = "day,amount\n2024-01-03,10\n2024-01-20,5\n2024-02-01,7\n"
df = pd.read_csv(io.StringIO(text), parse_dates=["day"], index_col="day")
print(df.resample("MS")["amount"].sum())

# %% resample('M') still works
#| stderr: FutureWarning
#| stdout: 31
import pandas as pd
s = pd.Series(1, index=pd.date_range("2024-01-01", periods=31))
print(s.resample("M").sum().iloc[0])

# %% pivot table with margins
#| stdout: All
import pandas as pd
df = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "v": [1, 2, 3, 4]})
print(pd.pivot_table(df, values="v", index="a", columns="b", aggfunc="sum", margins=True))

# %% merge of two tables
#| stdout: Paris
import pandas as pd
left = pd.DataFrame({"id": [1, 2], "name": ["A", "B"]})
right = pd.DataFrame({"id": [1, 2], "city": ["Rome", "Paris"]})
print(left.merge(right, on="id", how="left", validate="one_to_one"))

# %% writes and reads Excel with openpyxl formatting
#| file: report.xlsx
#| stdout: Total 60
import pandas as pd
from openpyxl import load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font, PatternFill
pd.DataFrame({"item": ["a", "b"], "value": [20, 40]}).to_excel("/mnt/data/report.xlsx", index=False, sheet_name="Data")
book = load_workbook("/mnt/data/report.xlsx")
sheet = book["Data"]
for cell in sheet[1]:
    cell.font = Font(bold=True)
    cell.fill = PatternFill("solid", fgColor="DDDDDD")
sheet["B4"] = "=SUM(B2:B3)"
chart = BarChart()
chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
sheet.add_chart(chart, "D2")
book.save("/mnt/data/report.xlsx")
print("Total", sum(pd.read_excel("/mnt/data/report.xlsx")["value"].dropna().astype(int)))

# %% writes Excel with xlsxwriter and a chart
#| image: standard
#| file: chart.xlsx
import pandas as pd
with pd.ExcelWriter("/mnt/data/chart.xlsx", engine="xlsxwriter") as writer:
    pd.DataFrame({"x": [1, 2, 3], "y": [2, 4, 8]}).to_excel(writer, sheet_name="S", index=False)
    chart = writer.book.add_chart({"type": "line"})
    chart.add_series({"values": "=S!$B$2:$B$4"})
    writer.sheets["S"].insert_chart("D2", chart)

# %% parquet round trip
#| image: standard
#| file: data.parquet
#| stdout: int64
import pandas as pd
pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_parquet("/mnt/data/data.parquet", compression="zstd")
print(pd.read_parquet("/mnt/data/data.parquet").dtypes["a"])

# %% previews of Parquet, Feather and OpenDocument
#| image: standard
#| preview: rows.parquet ["Kiel","2"]
#| preview: rows.feather ["Kiel","2"]
#| preview: rows.ods ["Kiel","2"]
#| preview: none.parquet "columns":["city","n"],"rows":[]
import pandas as pd
rows = pd.DataFrame({"city": ["Bonn", "Kiel"], "n": [1, 2]})
rows.to_parquet("rows.parquet"); rows.to_feather("rows.feather"); rows.to_excel("rows.ods", index=False)
rows.head(0).to_parquet("none.parquet")

# %% pyarrow tables, feather and datasets
#| image: standard
#| stdout: rows 3
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather, pyarrow.compute as pc, pyarrow.dataset as ds
table = pa.table({"year": [2023, 2024, 2024], "v": [1.0, 2.0, 3.0]})
pq.write_to_dataset(table, "/mnt/data/set", partition_cols=["year"])
feather.write_feather(table, "/mnt/data/t.feather")
print("rows", ds.dataset("/mnt/data/set", partitioning="hive").to_table().num_rows, pc.sum(table["v"]).as_py())

# %% duckdb queries a DataFrame and a CSV file
#| image: standard
#| stdout: 42
import duckdb, pandas as pd
frame = pd.DataFrame({"v": [20, 22]})
print(duckdb.sql("select sum(v) as total from frame").fetchall()[0][0])
frame.to_csv("/mnt/data/v.csv", index=False)
print(duckdb.query("select count(*) from '/mnt/data/v.csv'").df())

# %% to_markdown, to_latex and a styled table
#| stdout: | name
#| mime: text/html
#| mime: application/vnd.dataresource+json
#| result: 1.5
import pandas as pd
df = pd.DataFrame({"name": ["a"], "v": [1.5]})
print(df.to_markdown(index=False))
assert "tabular" in df.to_latex()
df.style.background_gradient(cmap="Blues").format({"v": "{:.2f}"})

# %% reads HTML tables, XML and JSON
#| image: standard
#| stdout: 3 2 1
import io, pandas as pd
html = "<table><tr><th>a</th></tr><tr><td>1</td></tr><tr><td>2</td></tr><tr><td>3</td></tr></table>"
xml = "<rows><row><a>1</a></row><row><a>2</a></row></rows>"
print(len(pd.read_html(io.StringIO(html))[0]), len(pd.read_xml(io.StringIO(xml))), len(pd.read_json(io.StringIO('[{"a": 1}]'))))

# %% HDF5 through pandas and h5py
#| image: standard
#| stdout: (2, 3)
#| file: x.h5
import h5py, numpy as np
with h5py.File("/mnt/data/x.h5", "w") as file:
    file.create_dataset("grid", data=np.zeros((2, 3)), compression="gzip")
with h5py.File("/mnt/data/x.h5") as file:
    print(file["grid"].shape)

# %% old Excel and OpenDocument sheets
#| image: standard
#| file: sheet.ods
#| stdout: 2
import pandas as pd, xlrd
pd.DataFrame({"a": [1, 2]}).to_excel("/mnt/data/sheet.ods", engine="odf", index=False)
print(len(pd.read_excel("/mnt/data/sheet.ods", engine="odf")))

# %% options set in one cell hold
#| stdout: 0.33
import pandas as pd
pd.set_option("display.precision", 2)
pd.options.display.max_rows = 5
print(pd.Series([1 / 3]))

# %% Polars reads a CSV file, groups and joins
#| image: standard
#| stdout: 60
#| result-any: shape: (2, 3)
import polars as pl
open("/mnt/data/sales.csv", "w").write("shop,day,amount\nnorth,2024-01-01,10\nsouth,2024-01-01,20\nnorth,2024-01-02,30\n")
df = pl.read_csv("/mnt/data/sales.csv", try_parse_dates=True)
print(df["amount"].sum())
names = pl.DataFrame({"shop": ["north", "south"], "city": ["Kiel", "Ulm"]})
df.group_by("shop").agg(pl.col("amount").sum()).join(names, on="shop").sort("amount")

# %% Polars lazily scans Parquet, and pandas reads its result
#| image: standard
#| stdout: FILTER
#| stdout: 499
#| file: numbers.parquet
import polars as pl
pl.DataFrame({"n": range(1000)}).write_parquet("/mnt/data/numbers.parquet")
lazy = pl.scan_parquet("/mnt/data/numbers.parquet").filter(pl.col("n") % 2 == 1).with_columns(half=pl.col("n") // 2)
print(lazy.explain(optimized=False))
print(lazy.collect().to_pandas()["half"].max())

# %% Polars writes Excel
#| image: standard
#| file: people.xlsx
#| stdout: Ada
import pandas as pd, polars as pl
pl.DataFrame({"name": ["Ada", "Bob"], "age": [36, 40]}).write_excel("/mnt/data/people.xlsx")
print(pd.read_excel("/mnt/data/people.xlsx").to_string())

# %% pandas keeps tables in HDF5
#| image: full
#| file: store.h5
#| stdout: 3
import pandas as pd
pd.DataFrame({"a": [1, 2, 3]}).to_hdf("/mnt/data/store.h5", key="t", format="table")
print(len(pd.read_hdf("/mnt/data/store.h5", "t", where="index >= 0")))

# %% numexpr evaluates an expression over arrays
#| image: full
#| stdout: 2.0
import numexpr as ne, numpy as np
a = np.ones(1_000_000)
print(ne.evaluate("a + a ** 2").max())

# %% messy European CSV with Latin-1 text, decimal commas and two date formats
#| stdout: ['Müller', "O'Neil"] [1234.5, None] ['2023-12-31', '2024-02-01']
import pandas as pd
open("messy.csv", "wb").write("Name; Amount ;Date\n Müller ;1.234,50;31.12.2023\nO'Neil;n/a;01/02/2024\n".encode("latin-1"))
table = pd.read_csv("messy.csv", sep=";", encoding="latin-1", decimal=",", thousands=".", na_values=["n/a"])
table.columns = table.columns.str.strip()
dates = pd.to_datetime(table["Date"], dayfirst=True, format="mixed")
amounts = [None if pd.isna(amount) else amount for amount in table["Amount"]]
print(table["Name"].str.strip().tolist(), amounts, dates.dt.strftime("%Y-%m-%d").tolist())

# %% workbook with formulas, a chart, colour scale and a drop-down list
#| stdout: ['Data', 'Notes'] =SUM(B2:B3) 1 1
#| file: book.xlsx
import openpyxl
from openpyxl.chart import BarChart, Reference
from openpyxl.formatting.rule import ColorScaleRule
from openpyxl.worksheet.datavalidation import DataValidation
book = openpyxl.Workbook(); sheet = book.active; sheet.title = "Data"
for row in [["month", "value"], ["Jan", 1], ["Feb", 2], ["sum", "=SUM(B2:B3)"]]: sheet.append(row)
sheet.conditional_formatting.add("B2:B3", ColorScaleRule(start_type="min", start_color="FFFFFF", end_type="max", end_color="FF0000"))
chart = BarChart(); chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True); sheet.add_chart(chart, "D2")
choice = DataValidation(type="list", formula1='"yes,no"'); sheet.add_data_validation(choice); choice.add("C2")
book.create_sheet("Notes"); book.save("book.xlsx")
again = openpyxl.load_workbook("book.xlsx"); data = again["Data"]
print(again.sheetnames, data["B4"].value, len(data._charts), len(data.data_validations.dataValidation))

# %% nested JSON lines become columns
#| stdout: ['id', 'user.name', 'user.tags'] 2
import json, pandas as pd
rows = [{"id": n, "user": {"name": name, "tags": ["a", "b"]}} for n, name in enumerate(["Ada", "Bob"])]
open("log.jsonl", "w").write("\n".join(map(json.dumps, rows)))
flat = pd.json_normalize([json.loads(line) for line in open("log.jsonl")])
print(flat.columns.tolist(), flat["user.tags"].map(len).max())

# %% table written as parquet, feather, Stata, HTML, LaTeX and Excel
#| image: standard
#| stdout: 6 True
import os, pandas as pd
table = pd.DataFrame({"day": pd.date_range("2024", periods=3), "value": [1.5, 2.5, 3.5]})
table.to_parquet("t.parquet"); table.to_feather("t.feather"); table.to_stata("t.dta"); table.to_html("t.html"); table.to_latex("t.tex"); table.to_excel("t.xlsx")
print(len(os.listdir()), pd.read_parquet("t.parquet").equals(pd.read_feather("t.feather")))

# %% monthly sums of a time series and a pivot as bars
#| stdout: [465, 1305]
#| figure
import matplotlib.pyplot as plt, pandas as pd
days = pd.DataFrame({"day": pd.date_range("2024", periods=60), "value": range(60)})
print(days.set_index("day").resample("ME")["value"].sum().tolist())
days.pivot_table(index=days["day"].dt.month, values="value", aggfunc="sum").plot.bar(); plt.show()
