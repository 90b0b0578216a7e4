import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

const TABLE = 'application/vnd.dataresource+json'
const CHART = 'application/vnd.cellblock.chart.v1+json'
const PLOTLY = 'application/vnd.plotly.v1+json'

interface Chart {
  readonly title: string | null
  readonly charts: readonly {
    readonly kind: string
    readonly series: readonly { readonly points: number; readonly x?: readonly unknown[] }[]
  }[]
}

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await startReadySandbox()
  await sandbox.supervisor.run('import datetime as dt, numpy as np, pandas as pd, matplotlib.pyplot as plt')
})
afterAll(() => sandbox[Symbol.asyncDispose]())

/** The bundles that the code displays, in order. */
async function shown(code: string): Promise<Readonly<Record<string, unknown>>[]> {
  const run = await sandbox.supervisor.run(code)
  expect(run.done).toMatchObject({ outcome: 'ok', truncated: [] })
  return run.of('display').map((event) => event['data'] as Record<string, unknown>)
}
const chartOf = async (code: string): Promise<Chart> => {
  const [bundle] = await shown(code)
  expect(bundle?.['image/png']).toBeTypeOf('string')
  return bundle?.[CHART] as Chart
}

describe('a table', () => {
  it('comes with its schema and its first rows, whatever its cells are', async () => {
    const [bundle] = await shown(`pd.DataFrame({
  "n": [1, 2, 10**30], "x": [1.5, None, float("inf")], "s": ["a", "b" * 1000, None], "when": pd.to_datetime(["2024-01-02", None, "2024-01-03"]),
  "zone": pd.date_range("2024", periods=3, tz="Europe/Berlin"), "opt": pd.array([1, None, 3], dtype="Int64"), "any": [{1: 2}, b"x", 1j]})`)
    expect(bundle?.['text/html']).toContain('<table')
    expect(bundle?.[TABLE]).toEqual({
      schema: {
        fields: [
          { name: 'index', type: 'integer' },
          { name: 'n', type: 'string' },
          { name: 'x', type: 'number' },
          { name: 's', type: 'string' },
          { name: 'when', type: 'datetime' },
          { name: 'zone', type: 'datetime' },
          { name: 'opt', type: 'integer' },
          { name: 'any', type: 'string' },
        ],
        primaryKey: ['index'],
      },
      data: [
        { index: 0, n: 1, x: 1.5, s: 'a', when: '2024-01-02T00:00:00', zone: '2024-01-01T00:00:00+01:00', opt: 1, any: '{1: 2}' },
        { index: 1, n: 2, x: null, s: `${'b'.repeat(200)}...`, when: null, zone: '2024-01-02T00:00:00+01:00', opt: null, any: "b'x'" },
        {
          index: 2,
          n: `1${'0'.repeat(30)}`,
          x: null,
          s: null,
          when: '2024-01-03T00:00:00',
          zone: '2024-01-03T00:00:00+01:00',
          opt: 3,
          any: '1j',
        },
      ],
      cellblock: { rows: 3, columns: 7, rows_shown: 3, columns_shown: 7 },
    })
  })

  it('is bounded and reports its size', async () => {
    const [bundle] = await shown('pd.DataFrame(np.zeros((100_000, 60)))')
    const table = bundle?.[TABLE] as { data: Record<string, unknown>[]; cellblock: unknown }
    expect(table.cellblock).toEqual({ rows: 100_000, columns: 60, rows_shown: 20, columns_shown: 30 })
    expect([table.data.length, Object.keys(table.data[0] ?? {}).length]).toEqual([20, 31])
  })

  it('may have names twice, levels of names, levels of rows, or be a Series', async () => {
    const bundles = await shown(`
display(pd.DataFrame([[1, 2]], columns=["a", "a"]))
display(pd.DataFrame({"k": ["u", "u"], "v": [1, 3]}).groupby("k").agg({"v": ["sum", "mean"]}))
display(pd.Series([7], name="s", index=pd.MultiIndex.from_tuples([("p", 1)])))
display(pd.DataFrame())`)
    expect(bundles.map((bundle) => (bundle[TABLE] as { data: unknown }).data)).toEqual([
      [{ index: 0, a: 1, a_2: 2 }],
      [{ k: 'u', 'v / sum': 4, 'v / mean': 2 }],
      [{ level_0: 'p', level_1: 1, s: 7 }],
      [],
    ])
  })
})

describe('a figure of matplotlib', () => {
  it('comes with its lines and points, its titles and axes', async () => {
    expect(
      await chartOf(`
figure, (left, right) = plt.subplots(1, 2); figure.suptitle("Both")
left.plot([1, 2, 3], [1, 4, float("nan")], label="squares"); left.axhline(2); left.set(title="Left", xlabel="n", ylabel="n²", yscale="log")
right.scatter(pd.to_datetime(["2024-01-01", "2024-01-02"]), [5, 6], label="dots")
plt.show()`),
    ).toMatchObject({
      title: 'Both',
      charts: [
        {
          kind: 'line',
          title: 'Left',
          x: { label: 'n', scale: 'linear' },
          y: { label: 'n²', scale: 'log' },
          series: [{ kind: 'line', label: 'squares', points: 3, x: [1, 2, 3], y: [1, 4, null] }],
          unread: [],
        },
        {
          kind: 'scatter',
          title: null,
          x: { label: null, scale: 'datetime' },
          y: { label: null, scale: 'linear' },
          series: [{ kind: 'scatter', label: 'dots', points: 2, x: ['2024-01-01T00:00:00', '2024-01-02T00:00:00'], y: [5, 6] }],
          unread: [],
        },
      ],
    })
  })

  it.each([
    ['bars', 'plt.bar(["u", "v"], [3, 4])', [{ kind: 'bar', orientation: 'vertical', categories: ['u', 'v'], values: [3, 4] }]],
    [
      'bars that lie',
      'plt.barh(["u", "v"], [3, 4], left=1)',
      [{ orientation: 'horizontal', categories: ['u', 'v'], values: [3, 4], base: [1, 1] }],
    ],
    [
      'bars of time',
      'plt.bar(pd.date_range("2024", periods=2), [1, 2], width=1)',
      [{ categories: ['2024-01-01T00:00:00', '2024-01-02T00:00:00'] }],
    ],
    [
      'groups of bars by pandas',
      'pd.DataFrame({"q": [1, 2], "r": [3, 4]}, index=["k", "l"]).plot.bar()',
      [
        { label: 'q', categories: ['k', 'l'], values: [1, 2] },
        { label: 'r', categories: ['k', 'l'], values: [3, 4] },
      ],
    ],
    ['a histogram', 'plt.hist([1, 1, 2, 4], bins=[0, 2, 4])', [{ values: [2, 2], from: [0, 2], to: [2, 4] }]],
    ['a pie', 'plt.pie([1, 3], labels=["one", "three"])', [{ kind: 'pie', categories: ['one', 'three'], values: [0.25, 0.75] }]],
    ['lines over names', 'plt.plot(["a", "b"], [1, 2])', [{ kind: 'line', x: ['a', 'b'], y: [1, 2] }]],
    [
      'a time series by pandas',
      'pd.Series([1, 2], index=pd.date_range("2024", periods=2)).plot()',
      [{ x: ['2024-01-01', '2024-01-02'], y: [1, 2] }],
    ],
  ])('reads %s', async (_, code, series) => {
    expect(await chartOf(`${code}\nplt.show()`)).toMatchObject({ charts: [{ series }] })
  })

  it('keeps as many points as can be drawn, including the last one, and reports their number', async () => {
    const { charts } = await chartOf('plt.plot(np.arange(100_001), np.arange(100_001)); plt.show()')
    const [series] = charts[0]?.series ?? []
    expect(series?.points).toBe(100_001)
    expect(series?.x?.length).toBeLessThanOrEqual(502)
    expect([series?.x?.[0], series?.x?.at(-1)]).toEqual([0, 100_000])
  })

  it.each([
    [
      'names the cells of a heatmap by row and column, and leaves out the scale of its colours',
      'import seaborn as sns; sns.heatmap(pd.DataFrame([[1, 2.5], [3, None]], index=["u", "v"], columns=["a", "b"]))',
      { points: 4, shape: [2, 2], min: 1, max: 3, categories: ['u, a', 'u, b', 'v, a', 'v, b'], values: [1, 2.5, 3, null] },
    ],
    [
      'counts the rows of a matrix as imshow draws them',
      'plt.imshow([[1, 2], [3, 4]], origin="lower"); plt.colorbar()',
      { points: 4, categories: ['0, 0', '0, 1', '1, 0', '1, 1'], values: [1, 2, 3, 4] },
    ],
    [
      'names the cells of a mesh by their centres',
      'plt.pcolormesh([1, 2, 3], [10, 20], [[5, 6]])',
      { points: 2, categories: ['15, 1.5', '15, 2.5'], values: [5, 6] },
    ],
    [
      'describes a large matrix by its size and range',
      'plt.imshow(np.arange(10_000).reshape(50, 200))',
      { points: 10_000, shape: [50, 200], min: 0, max: 9999, values: [] },
    ],
    [
      'finds the finite range of a picture that is read in parts',
      'picture = np.full((1500, 1500), 5.0); picture[1, 1] = np.inf; picture[700, 3] = -2; picture[-1, -1] = 8; plt.imshow(picture)',
      { points: 2_250_000, shape: [1500, 1500], min: -2, max: 8, values: [] },
    ],
  ])('%s', async (_, code, series) => {
    const { charts } = await chartOf(`${code}\nplt.show()`)
    expect(charts).toMatchObject([{ kind: 'heatmap', series: [{ kind: 'heatmap', ...series }], unread: [] }])
  })

  it('writes the minus of a tick as numbers have it', async () => {
    const { charts } = await chartOf('plt.plot([0, 1], [-2, 2]); plt.show()')
    expect(charts).toMatchObject([{ y: { tick_labels: expect.arrayContaining(['-2.0', '2.0']) } }])
  })

  const BOXES = {
    boxes: [
      { label: 'a', min: 1, q1: 2, median: 3, q3: 4, max: 4, outliers: [20] },
      { label: 'b', min: 2, q1: 3, median: 4, q3: 5, max: 6, outliers: [] },
    ],
  }
  it.each([
    ['a line in space', "plt.figure().add_subplot(projection='3d').plot([0, 1, 2], [10, 20, 30], [5, 6, 7])", 'line'],
    ['points in space', "plt.figure().add_subplot(projection='3d').scatter([0, 1, 2], [10, 20, 30], [5, 6, 7])", 'scatter'],
  ])('has the data of %s, not its positions on the screen', async (_, code, kind) => {
    expect(await chartOf(`${code}\nplt.show()`)).toMatchObject({
      charts: [{ kind, z: { label: null, scale: 'linear' }, series: [{ kind, x: [0, 1, 2], y: [10, 20, 30], z: [5, 6, 7] }], unread: [] }],
    })
  })

  it.each([
    ['boxplot', 'plt.boxplot([[1, 2, 3, 4, 20], [2, 3, 4, 5, 6]], tick_labels=["a", "b"])', 'x', { orientation: 'vertical', ...BOXES }],
    [
      'a lying boxplot with filled boxes',
      'plt.boxplot([[1, 2, 3, 4, 20], [2, 3, 4, 5, 6]], tick_labels=["a", "b"], orientation="horizontal", patch_artist=True, showmeans=True)',
      'y',
      { orientation: 'horizontal', ...BOXES },
    ],
    ['boxplot of pandas', 'pd.DataFrame({"a": [1, 2, 3, 4, 20], "b": [2, 3, 4, 5, 6]}).plot.box()', 'x', BOXES],
    [
      'boxplot of seaborn',
      'import seaborn as sns; sns.boxplot(pd.DataFrame({"g": ["a"] * 5 + ["b"] * 5, "v": [1, 2, 3, 4, 20, 2, 3, 4, 5, 6]}), x="g", y="v")',
      'x',
      BOXES,
    ],
  ])('reads the boxes of %s', async (_, code, axis, series) => {
    const { charts } = await chartOf(`${code}\nplt.show()`)
    expect(charts).toMatchObject([
      {
        kind: 'box',
        [axis]: { scale: 'categorical' },
        series: [{ kind: 'box', points: 2, ...series }],
        unread: [],
      },
    ])
    expect(charts[0]?.series).toHaveLength(1)
  })

  it.each([
    [
      'errorbar',
      'plt.errorbar([1, 2], [4, 6], yerr=[[1, 2], [3, 4]], xerr=0.5, fmt="o", capsize=3)',
      { kind: 'errorbar', x: [1, 2], y: [4, 6], low: [3, 4], high: [7, 10], x_low: [0.5, 1.5], x_high: [1.5, 2.5] },
    ],
    ['bars with errors', 'plt.bar(["a", "b"], [3, 4], yerr=[1, 2], capsize=4)', { kind: 'bar', values: [3, 4], low: [2, 2], high: [4, 6] }],
    [
      'bars of seaborn',
      'import seaborn as sns; sns.barplot(x=["a", "a", "b", "b"], y=[1, 3, 4, 8], errorbar=("pi", 100), capsize=0.1)',
      { kind: 'bar', values: [2, 6], low: [1, 4], high: [3, 8] },
    ],
    [
      'points of seaborn',
      'import seaborn as sns; sns.pointplot(x=["a", "a", "b", "b"], y=[1, 3, 4, 8], errorbar=("pi", 100))',
      { kind: 'line', x: ['a', 'b'], y: [2, 6], low: [1, 4], high: [3, 8] },
    ],
  ])('reads the errors of %s', async (_, code, series) => {
    const { charts } = await chartOf(`${code}\nplt.show()`)
    expect(charts).toMatchObject([{ kind: series.kind, series: [series], unread: [] }])
    expect(charts[0]?.series).toHaveLength(1)
  })

  it.each([
    ['dates', 'plt.plot([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], [1, 2])', 'datetime', ['2024-01-01', '2024-01-02']],
    ['categories', 'plt.plot(["a", "b"], [1, 2])', 'categorical', ['a', 'b']],
    [
      'dates that seaborn passes as numbers',
      'import seaborn as sns; sns.lineplot(x=pd.date_range("2024", periods=2), y=[1, 2])',
      'datetime',
      ['2024-01-01T00:00:00', '2024-01-02T00:00:00'],
    ],
  ])('has the scale of %s', async (_, code, scale, x) => {
    expect(await chartOf(`${code}\nplt.show()`)).toMatchObject({ charts: [{ x: { scale }, y: { scale: 'linear' }, series: [{ x }] }] })
  })

  it('rounds the shares of a pie', async () => {
    expect(await chartOf('plt.pie([30, 70]); plt.show()')).toMatchObject({ charts: [{ series: [{ values: [0.3, 0.7] }] }] })
  })

  it.each([
    ['a surface', "plt.figure().add_subplot(projection='3d').plot_surface(*np.meshgrid([0, 1], [0, 1]), np.eye(2))", ['Poly3DCollection']],
    ['an area', 'plt.fill_between([1, 2], [1, 2])', ['FillBetweenPolyCollection']],
    ['a stepped histogram', 'plt.hist([1, 2, 2], histtype="step")', ['Polygon']],
    ['violins', 'import seaborn as sns; sns.violinplot(x=["a", "a", "b", "b"], y=[1, 3, 4, 8])', ['FillBetweenPolyCollection']],
    ['a picture', 'plt.imshow(np.zeros((3, 3, 3)))', ['AxesImage']],
  ])('names %s, which it cannot read', async (_, code, unread) => {
    expect(await chartOf(`${code}\nplt.show()`)).toMatchObject({ charts: [{ kind: 'unknown', series: [], unread }] })
  })

  it('with texts or pictures and no axes is displayed', async () => {
    for (const code of ['plt.figure().text(0.5, 0.5, "hello")', 'plt.figure().figimage(np.eye(64))'])
      expect((await shown(`${code}\nplt.show()`))[0]?.['image/png'], code).toBeTypeOf('string')
  })

  it('with a picture beside its lines names the picture', async () => {
    expect(await chartOf('plt.imshow(np.zeros((3, 3, 3))); plt.plot([0, 1]); plt.show()')).toMatchObject({
      charts: [{ unread: ['AxesImage'] }],
    })
  })
})

describe('a figure of plotly', () => {
  it('comes as its JSON, displayed or shown', async () => {
    const bundles = await shown('import plotly.express as px\nfigure = px.bar(x=["a", "b"], y=[1, 3], title="P")\nfigure.show()\nfigure')
    expect(bundles).toHaveLength(2)
    for (const bundle of bundles)
      expect(bundle).toMatchObject({
        [PLOTLY]: { data: [{ type: 'bar', x: ['a', 'b'] }], layout: { title: { text: 'P' } } },
        'text/plain': expect.stringContaining("Plotly figure 'P': bar (2 points)"),
        'text/html': expect.stringContaining('plotly'),
      })
  })

  it.each([
    [
      'heatmap',
      'go.Heatmap(z=[[1, 2], [3, 4]], x=["a", "b"], y=["u", "v"])',
      { points: 4, categories: ['u, a', 'u, b', 'v, a', 'v, b'], values: [1, 2, 3, 4] },
    ],
    ['heatmap', 'go.Heatmap(z=np.eye(2))', { points: 4, categories: ['0, 0', '0, 1', '1, 0', '1, 1'], values: [1, 0, 0, 1] }],
    [
      'sankey',
      'go.Sankey(node={"label": ["a", "b"]}, link={"source": [0], "target": [1], "value": [7]})',
      { points: 1, categories: ['a → b'], values: [7] },
    ],
    ['scatterpolar', 'go.Scatterpolar(r=[1, 2], theta=["n", "e"])', { points: 2, categories: ['n', 'e'], values: [1, 2] }],
    ['indicator', 'go.Indicator(value=4, delta={"reference": 3})', { points: 2, categories: ['value', 'reference'], values: [4, 3] }],
    [
      'table',
      'go.Table(header={"values": ["k", "v"]}, cells={"values": [["a", "b"], [1, 2]]})',
      { points: 2, values: ['k: a; v: 1', 'k: b; v: 2'] },
    ],
    ['pie', 'go.Icicle(labels=["a"], parents=[""], values=[2])', { points: 1, categories: ['a'], values: [2] }],
    ['choropleth', 'go.Choropleth(locations=["FRA"], z=[5])', { points: 1, categories: ['FRA'], values: [5] }],
    [
      'box',
      'go.Box(x=["a"] * 5 + ["b"], y=[1, 2, 3, 4, 20, 7])',
      {
        points: 2,
        boxes: [
          { label: 'a', min: 1, q1: 1.75, median: 3, q3: 8, max: 4, outliers: [20] },
          { label: 'b', min: 7, q1: 7, median: 7, q3: 7, max: 7, outliers: [] },
        ],
      },
    ],
    ['bar', 'go.Bar(x=["a"], y=[4], error_y={"array": [1], "arrayminus": [2]})', { points: 1, values: [4], low: [2], high: [5] }],
    ['scattermap', 'go.Scattermap(lat=[1], lon=[2])', { points: 1, x: [2], y: [1] }],
    [
      'candlestick',
      'go.Candlestick(x=["d"], open=[1], high=[3], low=[0], close=[2])',
      { points: 1, values: ['x: d; open: 1; high: 3; low: 0; close: 2'] },
    ],
    ['scatter3d', 'go.Scatter3d(x=[1], y=[2], z=[3])', { points: 1, values: ['x: 1; y: 2; z: 3'] }],
    ['parcoords', 'go.Parcoords(dimensions=[{"label": "p", "values": [1, 2]}])', { points: 2, values: ['p: 1', 'p: 2'] }],
  ])('has the data of a trace of the type %s: %s', async (kind, trace, series) => {
    const [bundle] = await shown(`import numpy as np, plotly.graph_objects as go\ngo.Figure(${trace}).show()`)
    expect(bundle?.[CHART]).toMatchObject({ charts: [{ kind, series: [{ kind, ...series }], unread: [] }] })
  })

  it('is shown here by renderers that would open a browser or write a page', async () => {
    const run = await sandbox.supervisor.run(`
import os, plotly.express as px, plotly.io as pio
for name in ("browser", "iframe", "notebook"):
    px.bar(y=[1]).show(renderer=name)
print(os.path.exists("iframe_figures"))`)
    expect(run.stdout).toBe('False\n')
    expect(run.of('display').map((event) => Object.keys(event['data'] as object).includes(PLOTLY))).toEqual([true, true, true])
  })

  it('accepts the choice of a drawing program that earlier versions had', async () => {
    const code = `import inspect, plotly.graph_objects as go\ntry: go.Figure().to_image(format="nothing", engine="kaleido")\nexcept Exception as error: print("engine" in str(error))`
    expect((await sandbox.supervisor.run(code)).stdout).toBe('False\n')
  })

  it('has the same additions by whichever renderer the code names', async () => {
    const bundles = await shown(`
import plotly.express as px, plotly.io as pio
figure = px.bar(x=["a", "b"], y=[1, 3], title="P")
figure.show(renderer="notebook_connected", width=300)
pio.renderers.default = "json"
figure.show()
print(pio.renderers["notebook"])`)
    const named = bundles.filter((bundle) => String(bundle['text/plain']).startsWith("Plotly figure 'P'"))
    expect(named).toHaveLength(2)
    expect(named[1]?.['application/json']).toMatchObject({ data: [{ type: 'bar' }] })
  })
})

describe('other displays', () => {
  it('are unchanged, and a value whose conversion to a table raises has its text only', async () => {
    const bundles = await shown(`
display({"a": 1})
class Odd(pd.Series):
    def to_frame(self): raise RuntimeError("no")
display(Odd([1]))`)
    expect(bundles.map((bundle) => Object.keys(bundle))).toEqual([['text/plain'], ['text/plain']])
  })
})

describe('a picture', () => {
  it('may come as bytes, as Pillow has it', async () => {
    const [image] = await shown('from PIL import Image\nImage.new("RGB", (3, 2), "red")')
    expect(Buffer.from(String(image?.['image/png']), 'base64').subarray(1, 4).toString()).toBe('PNG')
    const [own] = await shown('from IPython.display import display\ndisplay({"image/png": b"\\x89PNG"}, raw=True)')
    expect(own).toEqual({ 'image/png': 'iVBORw==' })
  })
})

it('converts values that JSON lacks, as Jupyter does', async () => {
  const value = '{"at": dt.date(2024, 1, 2), "n": np.int64(3), "x": np.float32(0.5), "b": b"x", "s": {1}}'
  const [bundle] = await shown(
    `import datetime as dt, numpy as np\nfrom IPython.display import display\ndisplay({"application/json": ${value}}, raw=True)`,
  )
  expect(bundle?.['application/json']).toEqual({ at: '2024-01-02', n: 3, x: 0.5, b: 'eA==', s: [1] })
})

const DATA_CHUNK = 'IDAT'

describe('the compression of a figure', () => {
  /** As the compressed data of the picture names it in its second byte: 0 for the fastest, 1 for fast, 2 for the default. */
  const levelOf = (png: Buffer): number => (png[png.indexOf(DATA_CHUNK) + 5] ?? 0) >> 6

  it('is fast where it is displayed and the default in a file', async () => {
    const run = await sandbox.supervisor.run('plt.plot([1, 2]); plt.savefig("own.png"); plt.show()')
    const [bundle] = run.of('display').map((event) => event['data'] as Record<string, unknown>)
    expect(levelOf(Buffer.from(String(bundle?.['image/png']), 'base64'))).toBe(1)
    const [own] = await shown('from IPython.display import display, Image\ndisplay(Image("own.png"))')
    expect(levelOf(Buffer.from(String(own?.['image/png']), 'base64'))).toBe(2)
  })

  it('is the one that the code sets', async () => {
    const [bundle] = await shown(
      '%config InlineBackend.print_figure_kwargs = {"pil_kwargs": {"compress_level": 1}}\nplt.plot([1, 2]); plt.show()',
    )
    expect(levelOf(Buffer.from(String(bundle?.['image/png']), 'base64'))).toBe(0)
    const [vector] = await shown(
      '%config InlineBackend.print_figure_kwargs = {}\n%config InlineBackend.figure_formats = ["svg"]\nplt.plot([1, 2]); plt.show()',
    )
    expect(vector?.['image/svg+xml']).toContain('<svg')
  })
})
