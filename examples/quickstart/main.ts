// A chat turn about a CSV, with the official `openai` package: upload, ask for a plot, keep the plot and the executed notebook.
import OpenAI from 'openai'
import { createReadStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { DEMO_CODE } from './demo-code.ts'

const HERE = import.meta.dirname
const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const model = process.env['CELLBLOCK_MODEL'] ?? 'demo'
const out = process.env['QUICKSTART_OUT'] ?? join(HERE, 'out')

const QUESTION =
  'The file /mnt/data/sales.csv holds the orders of a small shop. Plot the revenue (units * unit_price * (1 - discount)) of each month, ' +
  'stacked by category, save the plot as /mnt/data/revenue.png, and name the best month.'

if (apiKey === undefined) {
  console.error('CELLBLOCK_API_KEY is not set. `npm start` prints a key: CELLBLOCK_API_KEY=ck_… npm run example:quickstart')
  process.exit(1)
}

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })

const container = await client.containers.create({ name: 'quickstart' })
await client.containers.files.create(container.id, { file: createReadStream(join(HERE, 'sales.csv')) })
console.log(`container  ${container.id} with sales.csv`)

// The demo model is no language model: it runs the fenced Python blocks of the message.
const input = model === 'demo' ? `${QUESTION}\n\n\`\`\`python\n${DEMO_CODE}\`\`\`` : QUESTION
const response = await client.responses.create({ model, input, tools: [{ type: 'code_interpreter', container: container.id }] })
console.log(`answer     ${response.output_text.trim().replaceAll('\n', '\n           ')}`)
if (response.status !== 'completed') throw new Error(`The response ended ${response.status}: ${response.error?.message ?? ''}`)

await mkdir(out, { recursive: true })
const files = []
for await (const file of client.containers.files.list(container.id)) if (file.source === 'assistant') files.push(file)
if (files.length === 0) throw new Error('The code created no file. Run the example again, or read the answer.')
for (const file of files) {
  const content = await client.containers.files.content.retrieve(file.id, { container_id: container.id })
  await keep(basename(file.path), content)
}

const notebook = await fetch(`${url}/v1/containers/${container.id}/notebook.ipynb`, { headers: { authorization: `Bearer ${apiKey}` } })
if (!notebook.ok) throw new Error(`The notebook was answered with HTTP ${notebook.status}`)
await keep('notebook.ipynb', notebook)

async function keep(name: string, answer: { arrayBuffer(): Promise<ArrayBuffer> }): Promise<void> {
  const bytes = new Uint8Array(await answer.arrayBuffer())
  await writeFile(join(out, name), bytes)
  console.log(`saved      ${relative(process.cwd(), join(out, name))} (${bytes.byteLength} bytes)`)
}
