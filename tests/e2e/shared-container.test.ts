import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { terminalClient } from '../support/terminal-client.ts'
import { connectE2b, connectMcp, connectN8n } from '../support/wire-clients.ts'

let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

it(
  'is used by OpenAI, MCP, E2B and LibreChat clients in turn, each with the variables and files of the others',
  { timeout: 180_000 },
  async () => {
    const { id: container_id } = await server.openai.containers.create({ name: 'librechat:shared' })

    const response = await server.openai.responses.create({
      model: 'demo',
      input: '```python\nn = 40\nopen("/mnt/data/by-openai.txt", "w").write("openai")\n```',
      tools: [{ type: 'code_interpreter', container: container_id }],
    })
    expect(response.status).toBe('completed')

    const mcp = await connectMcp(server)
    const executed = await mcp.callTool({
      name: 'execute_code',
      arguments: { container_id, code: 'n += 2\nopen("/mnt/data/by-mcp.txt", "w").write("mcp")\nprint(n, open("by-openai.txt").read())' },
    })
    expect(executed.structuredContent).toMatchObject({ status: 'succeeded', stdout: '42 openai\n' })
    const command = await mcp.callTool({ name: 'run_command', arguments: { container_id, command: 'cat by-*.txt; exit 3' } })
    expect(command.structuredContent).toMatchObject({ exit_code: 3, stdout: ['mcp', 'openai'].join('') })

    const sandbox = await connectE2b(server, container_id)
    const run = await sandbox.runCode('n += 0\nprint(n, open("by-mcp.txt").read())')
    expect(run.logs.stdout.join('')).toBe('42 mcp\n')
    await sandbox.files.write('by-e2b.txt', 'e2b')
    expect((await sandbox.commands.run('cat by-*.txt')).stdout).toBe(['e2b', 'mcp', 'openai'].join(''))

    const exec = async (lang: string, code: string) => {
      const body = { lang, code, runtime_session_hint: 'shared' }
      return server.native.json<{ stdout: string; files: { name: string }[] }>('POST', '/librechat/v1/exec', body)
    }
    const python = await exec('py', 'print(n * 2, open("by-mcp.txt").read())\nopen("by-librechat.txt", "w").write("librechat")')
    expect(python).toMatchObject({ stdout: '84 mcp\n', runtime_session_id: container_id, runtime_status: 'reused', code: 0 })
    expect(python.files.map(({ name }) => name)).toEqual(['by-librechat.txt'])
    expect(await exec('bash', 'cat by-*.txt')).toMatchObject({ stdout: ['e2b', 'librechat', 'mcp', 'openai'].join(''), code: 0 })

    const files = await mcp.callTool({ name: 'list_files', arguments: { container_id } })
    expect((files.structuredContent as { files: { path: string }[] }).files.map(({ path }) => path)).toEqual(
      ['by-e2b.txt', 'by-librechat.txt', 'by-mcp.txt', 'by-openai.txt'].map((name) => `/mnt/data/${name}`),
    )
    const listed = await server.openai.containers.files.list(container_id)
    expect(listed.data).toHaveLength(4)
  },
)

/** OpenAI, MCP and E2B clients use the container of this name, in which a file has the text `written`. */
async function useByOthers({ name: called, written }: { readonly name: string; readonly written: string }): Promise<void> {
  const { data } = await server.openai.containers.list({ limit: 100 })
  const { id: container_id = '' } = data.find(({ name }) => name === called) ?? {}

  const response = await server.openai.responses.create({
    model: 'demo',
    input: '```python\nopen("/mnt/data/by-openai.txt", "w").write("openai")\n```',
    tools: [{ type: 'code_interpreter', container: container_id }],
  })
  expect(response.status).toBe('completed')
  const mcp = await connectMcp(server)
  const command = await mcp.callTool({ name: 'run_command', arguments: { container_id, command: 'cat by-*.txt' } })
  expect(command.structuredContent).toMatchObject({ stdout: `${written}openai` })
  const sandbox = await connectE2b(server, container_id)
  await sandbox.files.write('by-e2b.txt', 'e2b')
}

it('of a user of Open WebUI is used by OpenAI, MCP and E2B clients of the account in turn', { timeout: 180_000 }, async () => {
  const terminal = terminalClient(server.url, server.apiKey)
  expect((await terminal('POST', '/files/write', { body: { path: 'by-open-webui.txt', content: 'open-webui' } })).status).toBe(200)
  await useByOthers({ name: 'open-webui:ann:default', written: 'open-webui' })
  const answer = await terminal('POST', '/execute?wait=60', { body: { command: 'cat by-*.txt' } })
  const { output } = (await answer.json()) as { readonly output: readonly { readonly data: string }[] }
  expect(output.map(({ data: text }) => text).join('')).toBe(['e2b', 'open-webui', 'openai'].join(''))
})

it('of a sandbox of n8n is used by OpenAI, MCP and E2B clients of the account in turn', { timeout: 180_000 }, async () => {
  const n8n = connectN8n(`${server.url}/n8n`, server.apiKey)
  const { id } = await n8n.createSandbox({ id: randomUUID() })
  await n8n.writeFile(id, 'by-n8n.txt', 'n8n')
  await useByOthers({ name: `n8n:${id}`, written: 'n8n' })
  expect(await n8n.exec(id, { command: 'cat by-*.txt' })).toMatchObject({ stdout: ['e2b', 'n8n', 'openai'].join('') })
})
