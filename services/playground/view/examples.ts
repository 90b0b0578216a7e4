import { assetUrl } from '../assets.ts'
import { uploadAll } from '../state/workspace.ts'

export interface Example {
  readonly title: string
  readonly detail: string
  /** What a language model is asked. */
  readonly question: string
  /** The built-in demo is no language model: it runs this code. */
  readonly code: string
  readonly needsSample?: boolean
}

export const EXAMPLES: readonly Example[] = [
  {
    title: 'Plot a CSV file',
    detail: 'Uploads a sample table, draws a chart and saves it as a file',
    question: 'Load sales.csv, show its first rows, plot the total per month and save the plot as sales.png.',
    needsSample: true,
    code: `import pandas as pd, matplotlib.pyplot as plt

sales = pd.read_csv("sales.csv")
display(sales.head(15))
numbers = sales.select_dtypes("number")
totals = sales.groupby(sales.columns[0])[numbers.columns[-1]].sum()
ax = totals.plot(kind="bar", figsize=(8, 4), color="#4f6bed", title=f"{numbers.columns[-1]} by {sales.columns[0]}")
plt.tight_layout()
plt.savefig("sales.png", dpi=120)
plt.show()`,
  },
  {
    title: 'Watch code run',
    detail: 'Prints with colours while it works; stop it at any time',
    question: 'Write code that simulates 12 steps of work with a short pause and coloured progress output, and run it.',
    code: `import time
for step in range(1, 13):
    bar = "█" * step + "░" * (12 - step)
    print(f"\\x1b[32m{bar}\\x1b[0m step {step}/12", flush=True)
    time.sleep(0.4)
print("\\x1b[1mDone\\x1b[0m")`,
  },
  {
    title: 'Interactive chart and formula',
    detail: 'Plotly, LaTeX, a table and a JSON tree from one cell',
    question: 'Show the Gaussian integral as LaTeX, an interactive Plotly chart of a damped wave, and a small table.',
    code: `import math, pandas as pd
from IPython.display import display, Latex, JSON
display(Latex(r"$$\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi}$$"))
x = [i / 10 for i in range(121)]
chart = {"data": [{"x": x, "y": [math.exp(-v / 4) * math.cos(3 * v) for v in x], "type": "scatter", "line": {"color": "#4f6bed"}}],
         "layout": {"title": {"text": "Damped wave"}, "margin": {"t": 48, "r": 16, "b": 40, "l": 48}}}
display({"application/vnd.plotly.v1+json": chart, "text/plain": "chart"}, raw=True)
display(pd.DataFrame({"n": range(1, 26), "square": [n * n for n in range(1, 26)], "root": [n ** 0.5 for n in range(1, 26)]}))
display(JSON({"sandbox": {"network": False, "secrets": []}, "libraries": ["numpy", "pandas", "matplotlib"]}))`,
  },
  {
    title: 'See an error explained',
    detail: 'A failing cell is a result, with its traceback folded',
    question: 'Run code that fails inside a nested function call and explain the traceback.',
    code: `def ratio(a, b):
    return a / b

def report(values):
    return [ratio(100, v) for v in values]

report([4, 2, 0])`,
  },
]

/** Uploads the sample table if an example needs it, and returns the message to send. */
export async function messageOf(example: Example, model: string): Promise<string> {
  if (example.needsSample === true) {
    const sample = await (await fetch(assetUrl('sample'))).blob()
    await uploadAll([new File([sample], 'sales.csv', { type: 'text/csv' })])
  }
  return model === 'demo' ? `${example.question}\n\n\`\`\`python\n${example.code}\n\`\`\`` : example.question
}
