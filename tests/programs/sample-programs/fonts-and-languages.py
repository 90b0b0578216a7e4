# %% Arial maps to Liberation without warnings
#| image: standard
#| figure
import matplotlib.pyplot as plt
plt.rcParams["font.family"] = "Arial"
plt.plot([1, 2]); plt.title("Arial title"); plt.show()

# %% font families that models commonly name
#| image: standard
#| figure
import matplotlib.pyplot as plt
for family in ("Helvetica", "Times New Roman", "Courier New", "Verdana", "Calibri", "sans-serif", "serif", "monospace", "DejaVu Sans"):
    plt.text(0.1, 0.5, family, fontfamily=family)
plt.rcParams["font.sans-serif"] = ["Arial", "Helvetica", "DejaVu Sans"]
plt.title("fonts"); plt.show()

# %% Chinese, Japanese and Korean text in a plot
#| image: standard
#| figure
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.title("中文标题 日本語 한국어"); plt.show()

# %% fonts that models name for Chinese
#| image: standard
#| figure
import matplotlib.pyplot as plt
plt.rcParams["font.sans-serif"] = ["SimHei", "Microsoft YaHei", "Noto Sans CJK SC"]; plt.rcParams["axes.unicode_minus"] = False
plt.plot([-1, 2]); plt.title("销售额"); plt.show()

# %% a plot in the style of xkcd and other display fonts
#| image: standard
#| figure
import matplotlib.pyplot as plt
with plt.xkcd():
    plt.plot([1, 2]); plt.title("Trend", fontname="Comic Sans MS"); plt.xlabel("time", fontname="Impact"); plt.show()

# %% files of Chinese fonts that models name
#| image: standard
#| file: words.png
#| stdout: Noto Sans CJK
from PIL import ImageFont
from wordcloud import WordCloud
print([ImageFont.truetype(name, 20).getname()[0] for name in ("simhei.ttf", "msyh.ttc", "simsun.ttc")])
WordCloud(font_path="simhei.ttf").generate("数据 科学 你好 世界").to_file("words.png")

# %% Cyrillic, Greek and symbols in a plot
#| figure
import matplotlib.pyplot as plt
plt.title("Продажи Ελλάδα ≤ € → ✓"); plt.plot([1]); plt.show()

# %% fontconfig lists families
#| image: standard
#| stdout: Noto Sans CJK
#| stdout: Liberation
!fc-list : family | sort -u

# %% matplotlib lists the fonts
#| image: standard
#| stdout: Liberation Sans
from matplotlib import font_manager
print(sorted({f.name for f in font_manager.fontManager.ttflist}))

# %% node runs JavaScript
#| image: standard
#| stdout: [2,4]
!node -e "console.log(JSON.stringify([1,2].map(n => n * 2)))"

# %% node runs TypeScript
#| image: standard
#| stdout: 3
#| stderr: any
open("/tmp/x.ts", "w").write("const n: number = 3; console.log(n)")
!node /tmp/x.ts

# %% git repository
#| image: standard
#| stdout: first
!mkdir -p /tmp/g && cd /tmp/g && git init -q && git config user.email a@b.c && git config user.name a && echo x > x && git add x && git commit -qm first && git log --format=%s

# %% jq filters JSON
#| image: standard
#| stdout: [1,2]
!echo '{"a":[{"b":1},{"b":2}]}' | jq -c '[.a[].b]'

# %% awk, sed, sort and friends
#| stdout: 6
!printf '1\n2\n3\n' | sed 's/x/y/' | sort -n | awk '{s+=$1} END {print s}'

# %% ps and processes
#| image: standard
#| stdout: PID
!ps

# %% R plots and statistics
#| image: full
#| stdout: 5.5
!Rscript -e 'cat(mean(1:10), "\n")'

# %% pandoc converts Markdown
#| image: full
#| stdout: <h1
!echo '# Title' | pandoc -t html

# %% LibreOffice converts to PDF
#| image: full
#| file: x.pdf
#| stderr: any
open("/mnt/data/x.txt", "w").write("hello")
!soffice --headless --convert-to pdf --outdir /mnt/data /mnt/data/x.txt

# %% locale, time zones and dates
#| stdout: +02:00
from datetime import datetime
from zoneinfo import ZoneInfo
import pytz
print(datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")).isoformat(), pytz.timezone("UTC"))

# %% decimal, fractions and big numbers
#| stdout: 0.3
from decimal import Decimal
from fractions import Fraction
print(Decimal("0.1") + Decimal("0.2"), Fraction(1, 3), 2**200)

# %% polars
#| image: standard
#| stdout: shape: (2, 1)
import polars as pl
print(pl.DataFrame({"a": [1, 2]}))

# %% geographic data
#| image: full
#| stdout: 1.0
import geopandas as gpd
from shapely.geometry import box
print(gpd.GeoSeries([box(0, 0, 1, 1)]).area.sum())

# %% linear programming with pulp and ortools
#| image: full
#| stdout: Optimal
import pulp
p = pulp.LpProblem("p", pulp.LpMaximize); x = pulp.LpVariable("x", 0, 4); p += x; p.solve(pulp.PULP_CBC_CMD(msg=0))
print(pulp.LpStatus[p.status])

# %% cvxpy
#| image: full
#| stdout: 1.0
import cvxpy as cp
x = cp.Variable(); print(round(cp.Problem(cp.Minimize((x - 1) ** 2), [x >= 1]).solve() + 1, 3))

# %% numba compiles
#| image: full
#| stdout: 45
from numba import njit
@njit
def total(n):
    s = 0
    for i in range(n): s += i
    return s
print(total(10))

# %% shap values
#| image: full
#| stdout: (5, 2)
import numpy as np, shap
from sklearn.ensemble import RandomForestRegressor
x = np.random.default_rng(0).normal(size=(50, 2)); print(shap.TreeExplainer(RandomForestRegressor(5).fit(x, x[:, 0])).shap_values(x[:5]).shape)

# %% folium map
#| image: standard
#| mime: text/html
import folium
folium.Map([52.5, 13.4], zoom_start=10)

# %% OCR with tesseract
#| image: full
#| stdout: HELLO
import pytesseract
from PIL import Image, ImageDraw, ImageFont
i = Image.new("RGB", (400, 100), "white"); ImageDraw.Draw(i).text((20, 20), "HELLO", fill="black", font=ImageFont.truetype("DejaVuSans.ttf", 48)); print(pytesseract.image_to_string(i))

# %% graphviz diagram
#| image: standard
#| file: g.png
import graphviz
g = graphviz.Digraph(); g.edge("a", "b"); g.render("/mnt/data/g", format="png", cleanup=True)

# %% Chinese, Japanese and Korean titles with formulas
#| image: standard
#| figure
import matplotlib.pyplot as plt
plt.title(r"温度 $T_{max}$ 日本 한국어"); plt.xlabel("时间 $t$ (s)")
plt.plot([1, 2]); plt.show()

# %% Chinese and emoji after a style of seaborn
#| image: standard
#| figures: 2
import matplotlib.pyplot as plt
import seaborn as sns
sns.set_theme(style="whitegrid")
plt.bar(["苹果 🍎", "香蕉 🍌"], [3, 5]); plt.title("销售额 📈 한국어"); plt.show()
plt.style.use("ggplot")
plt.title("季度 🚀"); plt.show()

# %% fontconfig finds the desktop names
#| image: standard
#| stdout: SimHei: Noto Sans CJK SC
#| stdout: Heiti TC: Noto Sans CJK TC
#| stdout: MS Gothic: Noto Sans CJK JP
#| stdout: Malgun Gothic: Noto Sans CJK KR
#| stdout: Calibri: Liberation Sans
#| stdout: Georgia: Liberation Serif
#| stdout: Segoe UI Emoji: Noto Color Emoji
import subprocess
for name in ("SimHei", "Heiti TC", "MS Gothic", "Malgun Gothic", "Calibri", "Georgia", "Segoe UI Emoji"):
    print(f"{name}: {subprocess.run(['fc-match', '--format=%{family[0]}', name], capture_output=True, text=True).stdout}")

# %% a family that no system has is named once
#| image: standard
#| figure
#| stderr: findfont: Font family 'No Such Font' not found.
import matplotlib.pyplot as plt
plt.rcParams["font.family"] = "No Such Font"
plt.plot([1, 2]); plt.title("title"); plt.show()

# %% font files of other systems, by name and by path
#| image: standard
#| stdout: 12 fonts
from PIL import ImageFont
names = ["timesi.ttf", "comic.ttf", "impact.ttf", "FreeSans.ttf", "DejaVuSans-Oblique.ttf", "seguiemj.ttf", "NotoSansSC-Regular.otf", "malgun.ttf"]
names += ["/usr/share/fonts/truetype/freefont/FreeSans.ttf", "/usr/share/fonts/truetype/msttcorefonts/Arial.ttf"]
names += ["/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc", "/System/Library/Fonts/PingFang.ttc"]
print(len([ImageFont.truetype(name, 20) for name in names]), "fonts")

# %% German dates and money
#| image: standard
#| stdout: Freitag
import datetime, locale
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
print(datetime.date(2024, 3, 1).strftime("%A"), locale.currency(1234.5, grouping=True))

# %% git commits, branches and a clone of a folder
#| image: standard
#| stdout: main
#| stdout: Cellblock
!cd /tmp && rm -rf origin copy && git init -q origin && cd origin && echo 1 > a && git add a && git commit -qm first && git branch --show-current
!cd /tmp && git clone -q origin copy && cd copy && git log --format=%an

# %% a word cloud of Chinese words without the name of a font
#| image: standard
#| stdout: wqy-microhei
#| file: cloud.png
from wordcloud import WordCloud
cloud = WordCloud().generate("数据 科学 你好 世界")
print(cloud.font_path); cloud.to_file("/mnt/data/cloud.png")

# %% scripts of South and South-East Asia and Ethiopia in a plot
#| image: standard
#| figure
import matplotlib.pyplot as plt
for at, text in enumerate(["नमस्ते", "বাংলা", "தமிழ்", "తెలుగు", "ಕನ್ನಡ", "മലയാളം", "සිංහල", "ไทย", "ລາວ", "ខ្មែរ", "မြန်မာ", "አማርኛ", "ગુજરાતી", "ਪੰਜਾਬੀ", "ଓଡ଼ିଆ"]):
    plt.text(0.1, at / 15, text)
plt.title("हिन्दी $x^2$ data", weight="bold"); plt.show()

# %% Hebrew and Arabic run from right to left in a plot
#| image: standard
#| stdout: True True False
import bidi, matplotlib.pyplot as plt, numpy as np
def draw(text):
    figure = plt.figure(); figure.text(0.2, 0.5, text, fontsize=40); figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba()).copy(); plt.close(figure)
    return pixels
hebrew = "שלום עולם"
joined = draw("مرحبا")
print(np.array_equal(draw(hebrew), draw(bidi.get_display(hebrew))), joined.any(), np.array_equal(joined, draw("\u200c".join("مرحبا"))))

# %% Pillow shapes text
#| image: standard
#| stdout: True True
from PIL import Image, ImageDraw, ImageFont, features
font = ImageFont.truetype("/usr/share/fonts/truetype/noto/NotoSansDevanagari-Regular.ttf", 40)
picture = Image.new("L", (300, 80)); ImageDraw.Draw(picture).text((5, 5), "नमस्ते", font=font, fill=255)
print(features.check("raqm"), picture.getbbox() is not None)
