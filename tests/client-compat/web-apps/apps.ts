import type { Page } from 'playwright-core'

/** What the check of an app can do beside its page. */
export interface Sandbox {
  /** Runs Python in the sandbox of the app. Rejects if it fails. */
  run(code: string): Promise<void>
}

export interface WebApp {
  /** Its package on PyPI or npm. */
  readonly name: string
  readonly covers: string
  readonly port: number
  /** Texts by their paths below the folder of the app. */
  readonly files: Readonly<Record<string, string>>
  /** Runs in that folder. */
  readonly command: string
  /** Uses the app as a visitor. Rejects if it does not work. */
  readonly use: (page: Page, sandbox: Sandbox) => Promise<void>
}

const STREAMLIT = `
import streamlit as st
st.title("Garden")
st.session_state.setdefault("count", 0)
if st.button("Plant"):
    st.session_state.count += 1
st.write(f"Planted {st.session_state.count}")
upload = st.file_uploader("List")
if upload:
    st.write(f"The list has {len(upload.getvalue())} bytes")
    st.download_button("Get it", upload.getvalue(), "list.txt")
`

const DASH = `
from dash import Dash, Input, Output, callback, dcc, html
app = Dash(title="Dash in a sandbox")
app.layout = html.Div([dcc.Input(id="name", placeholder="Name"), html.Div(id="result"), dcc.Graph(figure={"data": [{"x": [1, 2], "y": [3, 4]}]})])
@callback(Output("result", "children"), Input("name", "value"))
def greet(name):
    return f"Hello {name}"
app.run(port=8050, debug=True)
`

const FLASK = `
from flask import Flask, flash, get_flashed_messages, redirect, request, url_for
app = Flask(__name__)
app.secret_key = "of the app"
@app.get("/")
def home():
    return f"<form method=post action=/name><input name=name aria-label=Name><button>Send</button></form>{get_flashed_messages()}"
@app.post("/name")
def name():
    flash(request.form["name"])
    return redirect(url_for("home", _external=True))
`

const VITE = {
  'index.html': '<!doctype html><h1>Page</h1><p id=text></p><script type=module src=/main.js></script>',
  'main.js': `import { text } from './text.js'
const show = (value) => (document.getElementById('text').textContent = value)
show(text)
window.loads = (window.loads ?? 0) + 1
import.meta.hot.accept('./text.js', (changed) => show(changed.text))`,
  'text.js': "export const text = 'first'",
}

/** Web apps as their own guides start them: no address, host name or proxy is set. */
export const WEB_APPS: readonly WebApp[] = [
  {
    name: 'streamlit',
    covers: 'its page over a WebSocket, a button with a session, upload and download of a file',
    port: 8501,
    files: { 'app.py': STREAMLIT },
    command: 'python -m streamlit run app.py',
    async use(page) {
      await page.getByRole('heading', { name: 'Garden' }).waitFor()
      await page.getByRole('button', { name: 'Plant' }).click()
      await page.getByText('Planted 1').waitFor()
      await page.getByRole('button', { name: 'Plant' }).click()
      await page.getByText('Planted 2').waitFor()
      await page.locator('input[type=file]').setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('peas\n') })
      await page.getByText('The list has 5 bytes').waitFor()
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Get it' }).click()])
      if (download.suggestedFilename() !== 'list.txt') throw new Error(`The download is called ${download.suggestedFilename()}.`)
      await download.path()
    },
  },
  {
    name: 'dash',
    covers: 'its page with a chart, callbacks, the tools of debug mode',
    port: 8050,
    files: { 'app.py': DASH },
    command: 'python app.py',
    async use(page) {
      await page.getByPlaceholder('Name').fill('peas')
      await page.getByText('Hello peas').waitFor()
      await page.locator('.js-plotly-plot .plot-container').first().waitFor()
    },
  },
  {
    name: 'flask',
    covers: 'a form, a session in a cookie, a redirect to an absolute address',
    port: 5000,
    files: { 'app.py': FLASK },
    command: 'flask run --debug',
    async use(page) {
      await page.getByLabel('Name').fill('peas')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText("['peas']").waitFor()
    },
  },
  {
    name: 'vite',
    covers: 'its development server, hot replacement of a module over a WebSocket',
    port: 5173,
    files: VITE,
    command: 'node node_modules/vite/bin/vite.js',
    async use(page, sandbox) {
      await page.getByText('first').waitFor()
      await sandbox.run(`open("/tmp/vite/text.js", "w").write("export const text = 'second'")`)
      await page.getByText('second').waitFor()
      const loads = await page.evaluate('window.loads')
      if (loads !== 1) throw new Error('The page was loaded again instead of having its module replaced.')
    },
  },
]
