// A report that a timer starts: code draws pages into a PDF, and the file is kept under the date. Start it from cron or a systemd timer.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const folder = process.argv[2] ?? 'reports'
if (apiKey === undefined) {
  console.error('CELLBLOCK_API_KEY is not set. `npm start` prints a key: CELLBLOCK_API_KEY=ck_… npm run example -- scheduled-report')
  process.exit(1)
}

const CODE = `
import pandas as pd, matplotlib.pyplot as plt
from matplotlib.backends.backend_pdf import PdfPages
sales = pd.read_csv("sales.csv")
numbers = sales.select_dtypes("number").columns
with PdfPages("report.pdf") as pdf:
    for column in numbers[:2]:
        sales[column].plot(kind="hist", bins=20, title=column, figsize=(8, 5))
        pdf.savefig()
        plt.close()
print(len(sales), "rows")
`

async function call(method: string, path: string, body?: FormData | object): Promise<Response> {
  const isForm = body instanceof FormData
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, ...(isForm || body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  // A timer's mail shows what is printed here.
  if (!answer.ok) throw new Error(`${method} ${path} was answered with HTTP ${answer.status}: ${await answer.text()}`)
  return answer
}

interface Execution {
  readonly status: string
  readonly stdout: string
  readonly stderr: string
  readonly files: readonly { readonly id: string; readonly path: string }[]
}

const { id } = (await (await call('POST', '/v1/containers', { name: 'report' })).json()) as { readonly id: string }
try {
  const form = new FormData()
  form.append('file', new Blob([await readFile(join(import.meta.dirname, '../quickstart/sales.csv'))]), 'sales.csv')
  await call('POST', `/v1/containers/${id}/files`, form)
  const run = (await (await call('POST', `/v1/containers/${id}/executions?wait=60`, { code: CODE })).json()) as Execution
  const report = run.files.find(({ path }) => path.endsWith('report.pdf'))
  if (run.status !== 'succeeded' || report === undefined) throw new Error(`The report ended ${run.status}: ${run.stderr}`)
  const pdf = new Uint8Array(await (await call('GET', `/v1/containers/${id}/files/${report.id}/content`)).arrayBuffer())
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${new Date().toISOString().slice(0, 10)}.pdf`)
  await writeFile(path, pdf)
  console.log(`${run.stdout.trim()}; wrote ${path} (${pdf.length} bytes)`)
} finally {
  await call('DELETE', `/v1/containers/${id}`)
}
