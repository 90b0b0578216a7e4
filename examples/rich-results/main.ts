// What an answer carries beyond text and pictures, with the official `openai` package: tables as rows, charts as numbers, and the executed
// notebook of the whole conversation.
import OpenAI from 'openai'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const model = process.env['CELLBLOCK_MODEL'] ?? 'demo'
const out = process.env['RICH_RESULTS_OUT'] ?? join(import.meta.dirname, 'out')

const TABLE = 'application/vnd.dataresource+json'
const CHART = 'application/vnd.cellblock.chart.v1+json'

/** What the code showed, each thing in several forms, as in a notebook. */
interface Extension {
  readonly outputs: readonly {
    readonly [TABLE]?: { readonly schema: { readonly fields: readonly { name: string; type: string }[] }; readonly data: readonly object[] }
    readonly [CHART]?: {
      readonly charts: readonly {
        readonly title: string | null
        readonly series: readonly { readonly kind: string; readonly label: string | null }[]
      }[]
    }
  }[]
  readonly usage: { readonly run_ms: number }
}

if (apiKey === undefined) {
  console.error('CELLBLOCK_API_KEY is not set. `npm start` prints a key: CELLBLOCK_API_KEY=ck_… npm run example -- rich-results')
  process.exit(1)
}
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })

const QUESTION = 'Make a table of the squares and cubes of 1 to 5, show it, and plot both as lines with a title.'
const CODE = `import pandas as pd, matplotlib.pyplot as plt
powers = pd.DataFrame({"n": range(1, 6)})
powers["square"], powers["cube"] = powers.n ** 2, powers.n ** 3
display(powers)
powers.plot(x="n", title="Powers")
plt.show()
`
// The demo model is no language model: it runs the fenced Python blocks of the message.
const input = model === 'demo' ? `${QUESTION}\n\n\`\`\`python\n${CODE}\`\`\`` : QUESTION

const conversation = await client.conversations.create()
const response = await client.responses.create({
  model,
  input,
  conversation: conversation.id,
  tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
})

for (const item of response.output) {
  if (item.type !== 'code_interpreter_call') continue
  // Clients that do not know the field pass it over.
  const { outputs, usage } = (item as unknown as { x_cellblock: Extension }).x_cellblock
  for (const shown of outputs) {
    const table = shown[TABLE]
    if (table !== undefined) {
      console.log(`table      ${table.schema.fields.map((field) => `${field.name}: ${field.type}`).join(', ')}`)
      for (const row of table.data) console.log(`           ${JSON.stringify(row)}`)
    }
    for (const chart of shown[CHART]?.charts ?? [])
      console.log(`chart      ${chart.title}: ${chart.series.map((series) => `${series.kind} ${series.label}`).join(', ')}`)
  }
  console.log(`ran        ${usage.run_ms} ms`)
}

const notebook: { cells: { cell_type: string }[] } = await client.get(`/conversations/${conversation.id}/notebook.ipynb`)
await mkdir(out, { recursive: true })
await writeFile(join(out, 'conversation.ipynb'), JSON.stringify(notebook, null, 1))
console.log(`notebook   out/conversation.ipynb with ${notebook.cells.map((cell) => cell.cell_type).join(', ')}`)
