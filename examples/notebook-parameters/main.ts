// A notebook as a function: parameters in, the executed notebook out. As papermill does, a cell with values follows the one tagged `parameters`.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const [output = 'out.ipynb', ...given] = process.argv.slice(2)
if (apiKey === undefined) {
  console.error('CELLBLOCK_API_KEY is not set. `npm start` prints a key: CELLBLOCK_API_KEY=ck_… npm run example -- notebook-parameters')
  process.exit(1)
}

interface Notebook {
  readonly cells: readonly { readonly metadata?: { readonly tags?: readonly string[] } }[]
}

async function call(path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path} was answered with HTTP ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

const notebook = JSON.parse(await readFile(join(import.meta.dirname, 'report.ipynb'), 'utf8')) as Notebook
// `name=value` with a JSON value, which Python reads as it would write it.
const values = given.map((pair) => /^([A-Za-z_]\w*)=(.+)$/s.exec(pair)).flatMap((match) => (match === null ? [] : [[match[1], match[2]]]))
const source = ['import json', ...values.map(([name, value]) => `${name} = json.loads(${JSON.stringify(value)})`)].join('\n')
const at = notebook.cells.findIndex(({ metadata }) => metadata?.tags?.includes('parameters')) + 1
const cells = notebook.cells.toSpliced(at, 0, { cell_type: 'code', metadata: {}, execution_count: null, outputs: [], source } as object)

const container = await call('/v1/containers', { name: 'notebook' })
const execution = await call(`/v1/containers/${String(container['id'])}/executions?wait=60`, { notebook: { ...notebook, cells } })
const executed = await fetch(`${url}/v1/executions/${String(execution['id'])}/notebook.ipynb`, {
  headers: { authorization: `Bearer ${apiKey}` },
})
await writeFile(output, new Uint8Array(await executed.arrayBuffer()))
console.log(`${String(execution['status'])}: wrote ${output}`)
process.exitCode = execution['status'] === 'succeeded' ? 0 : 1
