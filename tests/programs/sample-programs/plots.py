# %% matplotlib line plot
#| figure
#| mime: application/vnd.cellblock.chart.v1+json
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], label="a"); plt.title("Title"); plt.xlabel("x"); plt.legend(); plt.show()

# %% a plot without show()
#| figure
import matplotlib.pyplot as plt
plt.bar(["a", "b"], [1, 2]);

# %% figure saved and shown
#| figure
#| file: plot.png
import matplotlib.pyplot as plt
fig, ax = plt.subplots(1, 2, figsize=(8, 3)); ax[0].hist([1, 1, 2]); ax[1].pie([1, 2], labels=["a", "b"])
fig.savefig("/mnt/data/plot.png", dpi=150, bbox_inches="tight"); plt.show()

# %% the Agg backend shows the figure
#| figure
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.show()

# %% a figure as the last expression under the Agg backend
#| figure
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
fig, ax = plt.subplots(); ax.plot([1, 4, 9]); ax.set_title("Squares")
fig

# %% seaborn with a theme
#| figure
import seaborn as sns, pandas as pd, matplotlib.pyplot as plt
sns.set_theme(style="whitegrid")
sns.barplot(data=pd.DataFrame({"x": list("abc"), "y": [1, 2, 3]}), x="x", y="y", hue="x", legend=False); plt.show()

# %% seaborn heat map of correlations
#| figure
import numpy as np, pandas as pd, seaborn as sns, matplotlib.pyplot as plt
sns.heatmap(pd.DataFrame(np.random.default_rng(0).normal(size=(20, 4))).corr(), annot=True, cmap="coolwarm"); plt.show()

# %% plotly express figure
#| mime: application/vnd.plotly.v1+json
#| mime: text/html
#| mime: text/plain
#| result-any: Plotly figure
import plotly.express as px
px.bar(x=["a", "b"], y=[1, 2], title="Sales").show()

# %% plotly as the last expression
#| mime: application/vnd.plotly.v1+json
#| mime: text/plain
import plotly.graph_objects as go
go.Figure(go.Scatter(x=[1, 2, 3], y=[3, 1, 2], name="s"))

# %% plotly written as HTML
#| file: plot.html
import plotly.express as px
px.line(x=[1, 2], y=[3, 4]).write_html("/mnt/data/plot.html", include_plotlyjs="cdn")

# %% plotly static picture
#| image: standard
#| file: plot.png
#| stderr: any
import plotly.express as px
px.scatter(x=[1, 2, 3], y=[1, 4, 9], title="Squares").write_image("/mnt/data/plot.png", width=600, height=400)

# %% plotly display gives clients a picture
#| image: standard
#| figure
import plotly.express as px
px.pie(names=["a", "b"], values=[1, 3]).show()

# %% bokeh figure
#| image: standard
#| mime: text/html
#| mime: application/vnd.cellblock.chart.v1+json
#| result-any: Bokeh figure: line (3 points)
from bokeh.plotting import figure, show
from bokeh.io import output_notebook
output_notebook(); p = figure(width=300, height=200); p.line([1, 2, 3], [3, 1, 2]); show(p)

# %% altair chart
#| image: full
#| mime: text/html
#| mime: application/vnd.cellblock.chart.v1+json
#| figure
import altair as alt, pandas as pd
alt.Chart(pd.DataFrame({"x": [1, 2], "y": [3, 4]})).mark_bar().encode(x="x:O", y="y:Q")

# %% 3D surface
#| figure
import numpy as np, matplotlib.pyplot as plt
x, y = np.meshgrid(np.linspace(-2, 2, 20), np.linspace(-2, 2, 20))
plt.figure().add_subplot(projection="3d").plot_surface(x, y, x * y, cmap="viridis"); plt.show()

# %% animation saved as GIF
#| file: a.gif
#| files-only: a.gif
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation
fig, ax = plt.subplots(); line, = ax.plot([], []); ax.set_xlim(0, 5); ax.set_ylim(0, 5)
an = FuncAnimation(fig, lambda i: line.set_data(range(i), range(i)), frames=4); an.save("/mnt/data/a.gif", writer="pillow", fps=5); plt.close()

# %% animation saved as MP4
#| image: standard
#| file: a.mp4
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation
fig, ax = plt.subplots(); line, = ax.plot([], []); ax.set_xlim(0, 5); ax.set_ylim(0, 5)
an = FuncAnimation(fig, lambda i: line.set_data(range(i), range(i)), frames=4); an.save("/mnt/data/a.mp4", fps=5); plt.close()

# %% animation shown as HTML video
#| image: standard
#| mime: text/html
import matplotlib.pyplot as plt
from IPython.display import HTML
from matplotlib.animation import FuncAnimation
fig, ax = plt.subplots(); dot, = ax.plot([0], [0], "o")
an = FuncAnimation(fig, lambda i: dot.set_data([i], [i]), frames=3); plt.close()
HTML(an.to_html5_video())

# %% SVG and PDF output
#| file: f.svg
#| file: f.pdf
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.savefig("/mnt/data/f.svg"); plt.savefig("/mnt/data/f.pdf"); plt.close()

# %% graph drawing with networkx
#| figure
import matplotlib.pyplot as plt, networkx as nx
nx.draw(nx.karate_club_graph(), with_labels=True, node_size=100); plt.show()

# %% pandas plot
#| figure
import pandas as pd
pd.DataFrame({"a": [1, 2, 3], "b": [3, 2, 1]}).plot(kind="area", stacked=True, title="Areas");

# %% word cloud
#| image: standard
#| figure
import matplotlib.pyplot as plt
from wordcloud import STOPWORDS, WordCloud
plt.imshow(WordCloud(stopwords=STOPWORDS, width=300, height=200).generate("python data science python code")); plt.axis("off"); plt.show()

# %% %matplotlib widget degrades to inline
#| figure
%matplotlib widget
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.show()

# %% many figures of one cell
#| figures: 3
import matplotlib.pyplot as plt
for n in range(3):
    plt.figure(); plt.plot([n, n + 1])
plt.show()

# %% style sheets and LaTeX-like text
#| figure
import matplotlib.pyplot as plt
plt.style.use("ggplot"); plt.plot([1, 2]); plt.title(r"$\int_0^1 x^2\,dx = \frac{1}{3}$"); plt.show()

# %% Bokeh line chart in the notebook
#| image: standard
#| result-any: Bokeh
from bokeh.io import output_notebook, show
from bokeh.plotting import figure
output_notebook(hide_banner=True)
plot = figure(title="Bokeh", width=400, height=300); plot.line([1, 2, 3], [3, 1, 2]); show(plot)

# %% Bokeh chart as an HTML file
#| image: standard
#| file: chart.html
#| stdout: True
from bokeh.plotting import figure, output_file, save
from bokeh.resources import INLINE
output_file("/mnt/data/chart.html", mode="inline")
plot = figure(title="Saved"); plot.vbar(x=[1, 2], top=[3, 4], width=0.5); save(plot)
print("Bokeh" in open("/mnt/data/chart.html").read())

# %% Altair chart as the last expression
#| image: full
#| mime: image/png
#| result-any: Altair Chart 'Sales': bar (3 points)
import altair as alt, pandas as pd
data = pd.DataFrame({"city": ["A", "B", "C"], "sales": [3, 5, 2]})
alt.Chart(data, title="Sales").mark_bar().encode(x="city", y="sales")

# %% Altair chart saved as PNG, SVG and HTML
#| image: full
#| file: chart.png
#| file: chart.svg
#| file: chart.html
import altair as alt, pandas as pd
chart = alt.Chart(pd.DataFrame({"x": range(10), "y": [v * v for v in range(10)]})).mark_line(point=True).encode(x="x", y="y")
for ending in ("png", "svg", "html"):
    chart.save(f"/mnt/data/chart.{ending}")

# %% plotnine draws a grammar of graphics
#| image: full
#| figure
from plotnine import aes, geom_point, geom_smooth, ggplot, labs
from plotnine.data import mtcars
(ggplot(mtcars, aes("wt", "mpg", color="factor(cyl)")) + geom_point() + geom_smooth(method="lm") + labs(title="Cars")).show()

# %% graphviz draws a graph as the last expression
#| image: standard
#| mime: image/svg+xml
import graphviz
graph = graphviz.Digraph(comment="Steps"); graph.attr(rankdir="LR")
graph.edges(["AB", "BC", "AC"])
graph

# %% graphviz renders a PNG and a PDF
#| image: standard
#| file: steps.png
#| file: steps.pdf
import graphviz
graph = graphviz.Digraph("steps"); graph.node("a", "Start", shape="box"); graph.node("b", "Ende ü"); graph.edge("a", "b", label="go")
graph.render("/mnt/data/steps", format="png", cleanup=True); graph.render("/mnt/data/steps", format="pdf", cleanup=True)

# %% pyvis writes an interactive network
#| image: full
#| file: network.html
from pyvis.network import Network
net = Network(cdn_resources="in_line"); net.add_nodes([1, 2, 3], label=["a", "b", "c"]); net.add_edge(1, 2); net.write_html("/mnt/data/network.html")

# %% Plotly map of countries has a picture
#| image: standard
#| result-any: choropleth
#| figure
import plotly.express as px
data = px.data.gapminder().query("year == 2007")
px.choropleth(data, locations="iso_alpha", color="lifeExp", title="Life expectancy").show()

# %% Plotly maps are saved as pictures: states, own regions, bubbles
#| image: standard
#| stdout: [(700, 500), (700, 500), (900, 600)]
import plotly.express as px
from PIL import Image
states = px.choropleth(locations=["CA", "TX"], locationmode="USA-states", color=[1, 2], scope="usa")
square = {"type": "Polygon", "coordinates": [[[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]]}
regions = px.choropleth(geojson={"type": "FeatureCollection", "features": [{"type": "Feature", "id": "a", "geometry": square}]}, locations=["a"], color=[1])
regions.update_geos(fitbounds="locations", visible=False)
bubbles = px.scatter_geo(px.data.gapminder().query("year == 2007"), locations="iso_alpha", color="continent", size="pop", width=900, height=600)
sizes = []
for number, figure in enumerate((states, regions, bubbles)):
    figure.write_image(f"{number}.png")
    picture = Image.open(f"{number}.png"); picture.load(); sizes.append(picture.size)
print(sizes)

# %% Plotly says why a 3D figure has no picture
#| image: standard
#| result-any: (no picture: A static picture of scatter3d needs WebGL
import plotly.express as px
px.scatter_3d(px.data.iris(), x="sepal_length", y="sepal_width", z="petal_width", color="species").show()

# %% Plotly picture of thousands of points is whole
#| image: standard
#| stdout: (700, 500) scattergl
import numpy as np, plotly.express as px
from PIL import Image
figure = px.scatter(x=np.arange(2_000), y=np.random.default_rng(1).random(2_000))
figure.write_image("points.png")
picture = Image.open("points.png"); picture.load()
print(picture.size, figure.data[0].type)

# %% Plotly colour bar has its colours
#| image: standard
#| stdout: True
import plotly.express as px
from PIL import Image
px.scatter(x=[1, 2, 3], y=[1, 2, 3], color=[1.0, 2.0, 3.0]).write_image("colours.png", width=700, height=500)
bar = Image.open("colours.png").convert("RGB").crop((630, 100, 660, 400))
print(len(bar.getcolors(10_000)) > 100)

# %% four styles of matplotlib
#| image: standard
#| figures: 4
import matplotlib.pyplot as plt
for style in ["ggplot", "seaborn-v0_8", "fivethirtyeight", "dark_background"]:
    with plt.style.context(style):
        plt.figure(figsize=(2, 1)); plt.plot([1, 2]); plt.show()

# %% GIF animation and word cloud
#| image: standard
#| stdout: 3 True
#| file: cloud.png
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter
from PIL import Image
from wordcloud import WordCloud
figure, axes = plt.subplots(); line, = axes.plot([0, 1], [0, 1])
animation = FuncAnimation(figure, lambda number: line.set_data([0, 1], [0, number / 3]) or (line,), frames=3)
animation.save("growing.gif", writer=PillowWriter(fps=2)); plt.close()
WordCloud(width=200, height=100).generate("words of a cloud of words").to_file("cloud.png")
print(Image.open("growing.gif").n_frames, Image.open("cloud.png").size == (200, 100))

# %% communities of a network
#| stdout: 0.438
#| figure
import matplotlib.pyplot as plt, networkx as nx
graph = nx.karate_club_graph()
print(round(nx.betweenness_centrality(graph)[0], 3))
nx.draw(graph, pos=nx.spring_layout(graph, seed=1), with_labels=True); plt.show()

# %% pair plot, heat map and joint plot of seaborn
#| figures: 3
import matplotlib.pyplot as plt, numpy as np, pandas as pd, seaborn as sns
random = np.random.default_rng(1)
data = pd.DataFrame({"a": random.random(50), "b": random.random(50), "kind": list("xy") * 25})
sns.pairplot(data, hue="kind"); plt.show()
sns.heatmap(data[["a", "b"]].corr(), annot=True); plt.show()
sns.jointplot(data, x="a", y="b", kind="kde"); plt.show()

# %% a vector graphic has a picture
#| image: standard
#| figure
#| mime: image/svg+xml
from IPython.display import SVG
SVG('<svg xmlns="http://www.w3.org/2000/svg" width="90000" height="90000"><circle cx="50" cy="50" r="40"/></svg>')

# %% the test client of FastAPI loads without a warning
#| image: standard
#| stdout: TestClient
from fastapi.testclient import TestClient
print(TestClient.__name__)

# %% Plotly draws violins, contours with labels and pictures of RGB arrays
#| image: standard
#| figures: 3
import numpy as np, plotly.express as px, plotly.graph_objects as go
px.violin(y=np.random.default_rng(0).normal(size=50), box=True, points="all").show()
go.Figure(go.Contour(z=np.outer(range(20), range(20)), contours={"showlabels": True})).show()
px.imshow(np.zeros((9, 9, 3), dtype="uint8") + np.array([200, 30, 30], dtype="uint8")).show()

# %% a picture of an RGB array has its colours
#| image: standard
#| stdout: (200, 30, 30)
import numpy as np, plotly.express as px
from PIL import Image
px.imshow(np.zeros((9, 9, 3), dtype="uint8") + np.array([200, 30, 30], dtype="uint8")).write_image("red.png", width=700, height=500)
print(Image.open("red.png").convert("RGB").getpixel((350, 240)))

# %% the reason why Plotly cannot draw is one sentence
#| image: standard
#| stdout: The figure could not be drawn: Height and width should be pixel values.
import kaleido
try:
    kaleido.calc_fig_sync({"data": [{"type": "scatter", "y": [1, 2]}], "layout": {"width": -5, "height": 9}})
except Exception as error:
    print(error)

# %% %matplotlib qt and auto degrade to inline
#| figures: 2
%matplotlib qt
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.show()
%matplotlib auto
plt.plot([1, 2]); plt.show()

# %% the text of the ninth figure of a cell names the limit of pictures
#| image: standard
#| result-any: the limit of 8 pictures of figures in a cell is reached; fig.write_image(path) in a later cell draws it
import plotly.graph_objects as go
for number in range(9):
    go.Figure(go.Scatter(y=[number, 1])).show()

# %% a plotly trace that cannot be read leaves the data of the others
#| mime: application/vnd.cellblock.chart.v1+json
#| mime: text/plain
import plotly.io as pio
unreadable = {"type": "bar", "y": {"bdata": "AA==", "dtype": "nothing"}}
pio.show({"data": [unreadable, {"type": "bar", "x": ["a"], "y": [1]}], "layout": {}}, validate=False)

# %% Altair chart without a picture has HTML and its data
#| image: standard
#| mime: text/html
#| mime: application/vnd.cellblock.chart.v1+json
#| result-any: Altair Chart 'Sales': bar (3 points)
import altair as alt, pandas as pd
data = pd.DataFrame({"city": ["A", "B", "C"], "sales": [3, 5, 2]})
alt.Chart(data, title="Sales").mark_bar().encode(x="city", y="sales")

# %% six Plotly figures in one cell
#| image: standard
#| figures: 6
import plotly.express as px
for number in range(6):
    px.bar(x=["a", "b"], y=[1, number], title=f"नमस्ते {number}").show()

# %% Plotly figures share one program that draws
#| image: standard
#| stdout: 1 True
import psutil, plotly.express as px
def drawing():
    return [one.pid for one in psutil.process_iter(["cmdline"]) if any("render.mjs" in part for part in one.info["cmdline"] or [])]
px.bar(y=[1]).write_image("/mnt/data/one.png"); first = drawing()
px.bar(y=[2]).write_image("/mnt/data/two.png"); print(len(first), first == drawing())

# %% Plotly draws after a figure that cannot be drawn
#| image: standard
#| figures: 1
#| stdout: could not be drawn
import plotly.graph_objects as go
try:
    go.Figure(go.Scatter(y=[1], marker={"size": 10**9})).to_image(format="png", width=10**6, height=10**6)
except Exception as error:
    print(error)
go.Figure(go.Bar(y=[1, 2])).show()

# %% a figure with texts and no axes
#| figure
import matplotlib.pyplot as plt
figure = plt.figure(); figure.text(0.5, 0.5, "hello"); plt.show()

# %% box plots of pandas and seaborn
#| mime: application/vnd.cellblock.chart.v1+json
#| figures: 2
import matplotlib.pyplot as plt, pandas as pd, seaborn as sns
table = pd.DataFrame({"group": list("aabbab"), "value": [1, 2, 3, 4, 5, 60]})
table.boxplot(column="value", by="group"); plt.show()
sns.boxplot(table, x="group", y="value"); plt.show()

# %% data sets that examples of seaborn load
#| image: standard
#| figure
#| stdout: (244, 7) (150, 5) (344, 7) (144, 3) 118
import matplotlib.pyplot as plt, seaborn as sns
tables = [sns.load_dataset(name) for name in ("tips", "iris", "penguins", "flights")]
print(*(table.shape for table in tables), tables[3]["passengers"][1])
sns.relplot(tables[0], x="total_bill", y="tip", hue="smoker"); plt.show()
