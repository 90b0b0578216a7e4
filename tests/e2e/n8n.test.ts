import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { docSettings, docSnippets, runDocSnippet } from '../client-compat/doc-snippets.ts'
import { createTenant } from '../support/create-tenant.ts'
import { startServer } from '../support/local-server.ts'
import { connectN8n } from '../support/wire-clients.ts'

const SECTION = "n8n's AI assistant"

it(
  "n8n's client finds its sandbox and its running command after a restart; another tenant finds neither",
  { timeout: 180_000 },
  async () => {
    await using made = new AsyncDisposableStack()
    const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-n8n-'))
    made.defer(() => rm(dataDir, { recursive: true, force: true }))
    const first = await startServer({ dataDir })
    made.defer(async () => void (await first.stop()))
    // The address and the key as the page says them.
    const [{ N8N_SANDBOX_SERVICE_URL: baseUrl = '', N8N_SANDBOX_SERVICE_API_KEY: apiKey = '' } = {}] = docSettings(SECTION, first)
    const before = connectN8n(baseUrl, apiKey)
    const { id } = await before.createSandbox({ id: randomUUID() })
    await before.exec(id, { command: 'mkdir -p workspace && echo kept > workspace/a.txt' })
    const execId = randomUUID()
    const command = 'echo run >> runs; for i in $(seq 40); do echo $i; sleep 0.2; done'
    const stream = await fetch(`${first.url}/n8n/sandboxes/${id}/executions`, {
      method: 'POST',
      headers: { 'x-api-key': first.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ command, exec_id: execId }),
    })
    const reader = stream.body?.getReader()
    for (let seen = ''; !seen.includes('stdout');) {
      const chunk = await reader?.read()
      seen += Buffer.from(chunk?.value ?? []).toString()
    }
    await first.kill()
    await reader?.cancel().catch(() => undefined)

    const second = await startServer({ dataDir })
    made.defer(async () => void (await second.stop()))
    const after = connectN8n(`${second.url}/n8n`, second.apiKey)
    const numbers = Array.from({ length: 40 }, (_, index) => `${index + 1}\n`).join('')
    expect(await after.resumeExecution(id, execId)).toMatchObject({ stdout: numbers, exitCode: 0 })
    expect((await after.createSandbox({ id })).id).toBe(id)
    const { stdout } = await after.exec(id, { command: 'cat runs workspace/a.txt' })
    expect(stdout).toBe('run\nkept\n')

    const other = connectN8n(`${second.url}/n8n`, await createTenant(second, 'other'))
    const missing = { status: 404, message: 'sandbox not found' }
    await expect(other.getSandbox(id)).rejects.toMatchObject(missing)
    await expect(other.resumeExecution(id, execId)).rejects.toMatchObject(missing)
    await expect(other.exec(id, { command: 'cat runs' })).rejects.toMatchObject(missing)
    await other.createSandbox({ id })
    expect((await other.exec(id, { command: 'ls' })).stdout).toBe('')
  },
)

it('a workspace is written, run, plotted, downloaded, and found again after a restart', { timeout: 180_000 }, async () => {
  await using made = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-n8n-'))
  made.defer(() => rm(dataDir, { recursive: true, force: true }))
  const first = await startServer({ dataDir })
  made.defer(async () => void (await first.stop()))
  const before = connectN8n(`${first.url}/n8n`, first.apiKey)
  const { id } = await before.createSandbox({ id: randomUUID() })
  const root = '/home/user/workspace'
  // What n8n makes of a new sandbox: folders and files at once, then commands in the workspace.
  await Promise.all(['src', 'chunks', 'workflows'].map((name) => before.mkdir(id, `${root}/${name}`, true)))
  const program = 'import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.savefig("plot.png")\nprint("drawn")\n'
  await Promise.all([
    before.writeFile(id, `${root}/src/draw.py`, program),
    before.writeFile(id, `${root}/package.json`, '{"private":true}'),
  ])
  const run = await before.exec(id, { command: 'python3 src/draw.py', workdir: root })
  expect(run).toMatchObject({ exitCode: 0, stdout: 'drawn\n' })
  const plot = await before.readFile(id, `${root}/plot.png`)
  expect(plot.subarray(1, 4).toString()).toBe('PNG')
  expect(await first.stop()).toBe(0)

  const second = await startServer({ dataDir })
  made.defer(async () => void (await second.stop()))
  const after = connectN8n(`${second.url}/n8n`, second.apiKey)
  expect(await after.createSandbox({ id })).toMatchObject({ id })
  expect((await after.readFile(id, `${root}/plot.png`)).equals(plot)).toBe(true)
  expect((await after.exec(id, { command: 'ls src chunks; cat package.json', workdir: root })).stdout).toContain('draw.py')
})

it('the block of the page about n8n runs as it is written', { timeout: 120_000 }, async () => {
  const server = await startServer()
  const blocks = docSnippets().filter(({ client }) => client === SECTION)
  expect(blocks).toHaveLength(1)
  try {
    for (const block of blocks) expect(await runDocSnippet(block, { ...server, model: '', python: '' })).toBeNull()
  } finally {
    await server.stop()
  }
})
