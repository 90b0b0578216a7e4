# %% %timeit and %time
#| stdout: loop
%timeit -n 1 -r 1 sum(range(10))
%time sum(range(10))

# %% %%time cell
#| stdout: Wall time
%%time
x = sum(range(1000))

# %% %%bash cell
#| stdout: hello 3
%%bash
set -e
x=$((1 + 2)); echo "hello $x"

# %% shell commands and their output in variables
#| stdout: ['a', 'b']
lines = !printf 'a\nb\n'
print(list(lines))

# %% %pip install of a present package
#| image: standard
#| stdout: Requirement already satisfied
%pip install requests

# %% pip install of an absent package says what is possible
#| stderr: no network
#| status: any
!pip install surely-not-there

# %% !pip list shows versions
#| stdout: numpy
!pip list | grep -i numpy

# %% %run and %load of a script
#| stdout: from script 5
open("/mnt/data/s.py", "w").write("import sys\nprint('from script', int(sys.argv[1]) + 1)\n")
%run /mnt/data/s.py 4

# %% %%writefile and !python
#| stdout: ran
open("/mnt/data/r.py", "w").write("print('ran')")
!python r.py && python3 -m json.tool <<< '{"a": 1}'

# %% rich displays
#| mime: text/html
#| mime: text/markdown
from IPython.display import HTML, JSON, Latex, Markdown, display
display(HTML("<b>bold</b>"), Markdown("**bold**"), JSON({"a": 1}), Latex("$x$"))

# %% clear_output and updates
#| stdout: 2
import time
from IPython.display import clear_output
for n in range(3):
    clear_output(wait=True); print(n)

# %% widgets are described
#| image: standard
#| result: IntSlider
import ipywidgets as widgets
widgets.IntSlider(value=3, max=10)

# %% help, ? and dir
#| stdout: append
help(list.append)

# %% variables survive and _ is the last result
#| result: 4
2 + 2

# %% %who and %whos
#| stdout: alpha
alpha = 1
%who

# %% several expressions with InteractiveShell
#| result: 2
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.ast_node_interactivity = "all"
1
2

# %% input() is refused with a reason
#| error: NoKeyboardError
#| hint: This sandbox has no keyboard
name = input("Name? ")

# %% %env and os.environ
#| stdout: env: A=1
%env A=1

# %% %%javascript, %%html and %%latex cells
#| mime: text/html
%%html
<h1>Title</h1>

# %% rich's progress bars keep what was printed before
#| image: standard
#| stdout: important
#| stdout: 100%
print("important")
from rich.progress import track
for _ in track(range(3)): pass
print("end")

# %% rich prints tables
#| image: standard
#| stdout: Ada
from rich.console import Console
from rich.table import Table
table = Table(title="T"); table.add_column("Name"); table.add_row("Ada"); Console().print(table)

# %% logging goes to stderr
#| stderr: WARNING:root:careful
import logging
logging.warning("careful")

# %% input widgets and interact
#| image: standard
#| stdout: 1
from ipywidgets import interact
interact(lambda x: print(x), x=1);

# %% nbclient executes a notebook
#| image: standard
#| stdout: ['1 + 1 is', '2', 'image/png']
import nbformat
from nbclient import NotebookClient
cells = ["print('1 + 1 is')", "1 + 1", "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"]
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
NotebookClient(notebook, timeout=60).execute()
stream, result, figure = [cell.outputs[-1] for cell in notebook.cells]
print([stream.text.strip(), result.data["text/plain"], min(figure.data)])

# %% jupyter nbconvert executes a notebook
#| image: standard
#| stdout: ['from', 'a', 'child']
#| file: executed.ipynb
import nbformat
code = "import multiprocessing\nchild = multiprocessing.Process(target=print, args=('from a child',))\nchild.start(); child.join()"
nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)]), "source.ipynb")
!jupyter nbconvert --to notebook --execute source.ipynb --output executed.ipynb --log-level ERROR
print("".join(output.text for output in nbformat.read("executed.ipynb", 4).cells[0].outputs).split())

# %% jupyter nbconvert executes a notebook with shell commands
#| image: standard
#| stdout: ['from', 'bash', '3']
import nbformat
cells = [nbformat.v4.new_code_cell(code) for code in ("!echo from bash; exit 3", "print(_exit_code)")]
nbformat.write(nbformat.v4.new_notebook(cells=cells), "source.ipynb")
!jupyter nbconvert --to notebook --execute source.ipynb --output executed.ipynb --log-level ERROR
print("".join(output.text for cell in nbformat.read("executed.ipynb", 4).cells for output in cell.outputs).split())

# %% integral is shown as a formula
#| result: sqrt(pi)
import sympy
x = sympy.symbols("x")
sympy.integrate(sympy.exp(-x**2), (x, -sympy.oo, sympy.oo))

# %% %prun shows a profile
#| result-any: function calls
%prun sum(range(10))

# %% %%capture keeps the output in a variable
#| stdout: kept: inside
%%capture out
print("inside")
#| next
print("kept:", out.stdout.strip())

# %% shell commands that fail are values
#| stdout: 3 hi
import subprocess
done = subprocess.run("echo hi && exit 3", shell=True, capture_output=True, text=True)
print(done.returncode, done.stdout.strip())

# %% the progress bar of tqdm.auto is complete at the end
#| image: standard
#| result-any: work: 100%|██████████| 10/10
from tqdm.auto import tqdm
for _ in tqdm(range(10), desc="work"):
    for _ in tqdm(range(3), leave=False): pass

# %% a progress bar that code updates itself
#| image: standard
#| result-any: 40%|████      | 4/10
from tqdm.notebook import tqdm
bar = tqdm(total=10)
bar.update(4)
