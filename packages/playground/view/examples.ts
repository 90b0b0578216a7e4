import { assetUrl } from '../assets.ts'
import { uploadAll } from '../state/attachments.ts'

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
    question:
      'Plot the revenue of each month in sales.csv, stacked by category, and save the plot as revenue.png. Which month was the best?',
    needsSample: true,
    code: `import pandas as pd, matplotlib.pyplot as plt

sales = pd.read_csv("sales.csv", parse_dates=["date"])
sales["revenue"] = sales.units * sales.unit_price * (1 - sales.discount)
sales["month"] = sales.date.dt.strftime("%Y-%m")
months = sales.pivot_table("revenue", "month", "category", "sum").round()
display(months)

months.plot.bar(stacked=True, figsize=(8, 4), width=0.8, title="Revenue by month")
plt.xlabel(""), plt.ylabel("euros"), plt.legend(loc="upper center", ncols=3)
plt.tight_layout()
plt.savefig("revenue.png", dpi=120)
plt.show()
totals = months.sum(axis=1)
print(f"Best month: {totals.idxmax()} with {totals.max():,.0f} euros")`,
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
wave = [math.exp(-v / 4) * math.cos(3 * v) for v in x]
layout = {"title": {"text": "Damped wave"}, "margin": {"t": 48, "r": 16, "b": 40, "l": 48}}
chart = {"data": [{"x": x, "y": wave, "type": "scatter"}], "layout": layout}
display({"application/vnd.plotly.v1+json": chart, "text/plain": "chart"}, raw=True)
numbers = pd.DataFrame({"n": range(1, 21)})
display(numbers.assign(square=numbers.n ** 2, root=numbers.n ** 0.5))
display(JSON({"sandbox": {"network": False, "secrets": []}, "libraries": ["numpy", "pandas"]}))`,
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

/** Uploads a table to try things with. */
export async function addSample(): Promise<void> {
  const sample = await (await fetch(assetUrl('sample'))).blob()
  await uploadAll([new File([sample], 'sales.csv', { type: 'text/csv' })])
}

/** Uploads the sample table if an example needs it, and returns the message to send. */
export async function messageOf(example: Example, model: string): Promise<string> {
  if (example.needsSample === true) await addSample()
  return model === 'demo' ? `${example.question}\n\n\`\`\`python\n${example.code}\n\`\`\`` : example.question
}
