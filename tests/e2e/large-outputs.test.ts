import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { connectE2b, connectMcp, type E2bSandbox } from '../support/wire-clients.ts'

/** From just above what a row takes of the events (48 KiB) and what one write of the log takes (192 KiB) to a multiple of both. */
const SIZES_KB = [49, 96, 193, 400, 600] as const
/** `CELLBLOCK_LARGE_OUTPUT_ROUNDS=40` sends 200 outputs over each wire. */
const ROUNDS = Number(process.env['CELLBLOCK_LARGE_OUTPUT_ROUNDS'] ?? 1)
const TIMEOUT_MS = 120_000 * Math.max(1, ROUNDS)

let server: LocalServerProcess
let container: string
let sandbox: E2bSandbox
let mcp: Awaited<ReturnType<typeof connectMcp>>
beforeAll(async () => {
  server = await startServer()
  container = (await server.openai.containers.create({ name: 'librechat:large' })).id
  await server.native.run(container, 'pass')
  sandbox = await connectE2b(server, container)
  mcp = await connectMcp(server)
})
afterAll(async () => {
  await mcp.close()
  expect(await server.stop()).toBe(0)
})

const codeOf = (kb: number): string => `print("x" * ${kb * 1_000})`
const lineOf = (kb: number): string => `python3 -c 'print("x" * ${kb * 1_000})'`
const isWhole = (text: string, kb: number): void => expect(text.length).toBe(kb * 1_000 + 1)

/** Each sends code or a command that prints this much, and checks the answer and that its end is final. */
const WIRES: Readonly<Record<string, (kb: number) => Promise<void>>> = {
  async 'the event stream'(kb) {
    const { id } = await server.native.run(container, codeOf(kb), 0)
    let text = ''
    for await (const { event, data } of server.native.events(id)) {
      text += event === 'stdout' ? String(data['text']) : ''
      if (event !== 'done') continue
      const row = await server.native.json<{ status: string }>('GET', `/v1/executions/${id}?wait=0`)
      expect([data['status'], row.status]).toEqual(['succeeded', 'succeeded'])
    }
    isWhole(text, kb)
  },
  async 'commands.run of E2B'(kb) {
    const { stdout, exitCode } = await sandbox.commands.run(lineOf(kb))
    expect(exitCode).toBe(0)
    isWhole(stdout, kb)
  },
  async 'runCode of E2B'(kb) {
    const { error, logs } = await sandbox.runCode(codeOf(kb))
    expect(error).toBeUndefined()
    isWhole(logs.stdout.join(''), kb)
  },
  async 'exec of LibreChat'(kb) {
    const body = { lang: 'py', code: codeOf(kb), runtime_session_hint: 'large' }
    const answer = await server.native.json<{ stdout: string; code: number }>('POST', '/librechat/v1/exec', body)
    expect(answer.code).toBe(0)
    // Longer text is trimmed to 100 KB.
    expect(answer.stdout.length).toBeGreaterThan(Math.min(kb, 100) * 1_000)
  },
  async MCP(kb) {
    const answer = await mcp.callTool({ name: 'execute_code', arguments: { container_id: container, code: codeOf(kb) } })
    expect(answer.structuredContent).toMatchObject({ status: 'succeeded' })
  },
  async 'the stream of OpenAI responses'(kb) {
    const stream = await server.openai.responses.create({
      model: 'demo',
      input: `\`\`\`python\n${codeOf(kb)}\n\`\`\``,
      tools: [{ type: 'code_interpreter', container }],
      include: ['code_interpreter_call.outputs'],
      stream: true,
    })
    for await (const event of stream) {
      if (event.type !== 'response.completed') continue
      const row = await server.openai.responses.retrieve(event.response.id)
      expect(row.status).toBe('completed')
      const call = event.response.output.find(({ type }) => type === 'code_interpreter_call')
      expect(call).toMatchObject({ status: 'completed' })
      return
    }
    throw new Error('The stream ended without response.completed')
  },
}

describe.each(Object.keys(WIRES))('a large output over %s', (wire) => {
  it.each(SIZES_KB)('ends once with its final status at %i KB', { timeout: TIMEOUT_MS }, async (kb) => {
    const failures: string[] = []
    for (let round = 0; round < ROUNDS; round++)
      await WIRES[wire]?.(kb).catch((cause: unknown) => failures.push(String(cause).slice(0, 300)))
    expect(failures).toEqual([])
  })
})
