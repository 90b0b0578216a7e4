import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { runCommand } from '../../scripts/setup/command.ts'
import { DiscordStub } from '../support/discord-stub.ts'
import { guideSnippets, runSnippet } from '../support/guide-snippets.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { call, say, startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')
const RUN_EXAMPLE = join(import.meta.dirname, '../../scripts/example.ts')
const PNG = '89504e470d0a1a0a'
const TEAM_IMAGE = `cellblock-example-team:${process.pid}`
const ADMIN_KEY = 'ck_admin_0123456789abcdef01234567'
const RUN = '```python\nprint(6 * 7)\n```'

let server: LocalServerProcess
let upstream: ScriptedUpstream
let folder: string
let env: Record<string, string | undefined>

beforeAll(async () => {
  const built = await runCommand('docker', [
    'build',
    '--quiet',
    '--tag',
    TEAM_IMAGE,
    '--build-arg',
    `BASE=${inject('sandboxImage')}`,
    join(EXAMPLES, 'custom-image'),
  ])
  expect(built, built.output).toMatchObject({ code: 0 })
  upstream = await startScriptedUpstream()
  const models = (await readFile(join(EXAMPLES, 'local-model/models.json'), 'utf8')).replace('http://127.0.0.1:11434/v1', upstream.baseUrl)
  const images = `slim=${inject('sandboxImage')},team=${TEAM_IMAGE}`
  server = await startServer({
    env: { CELLBLOCK_MODELS: models, CELLBLOCK_IMAGES: images, CELLBLOCK_POOL: '2', CELLBLOCK_ADMIN_KEY: ADMIN_KEY },
  })
  folder = await mkdtemp(join(tmpdir(), 'cellblock-examples-'))
  env = { ...process.env, CELLBLOCK_URL: server.url, CELLBLOCK_API_KEY: server.apiKey, CELLBLOCK_MODEL: 'demo', PORT: '0' }
})
afterAll(async () => {
  await server.stop()
  await upstream.stop()
  await rm(folder, { recursive: true, force: true })
  await runCommand('docker', ['image', 'rm', TEAM_IMAGE])
})

const NODE_FLAGS = ['--disable-warning=ExperimentalWarning']
const example = (file: string, args: readonly string[] = [], more: Record<string, string> = {}) =>
  runCommand(
    file.endsWith('.py') ? 'python3' : process.execPath,
    [...(file.endsWith('.py') ? [] : NODE_FLAGS), join(EXAMPLES, file), ...args],
    { env: { ...env, ...more } },
  )

/** Starts an example that listens, and returns its address. */
async function listening(file: string, more: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, [...NODE_FLAGS, join(EXAMPLES, file)], {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // A process that outlives its test keeps the output of the test run open.
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return /http:\S+/.exec(line)?.[0] ?? line
}

/** Stands for the API of Slack: records the calls and accepts each. */
async function recordCalls(): Promise<{ readonly url: string; readonly calls: { readonly path: string; readonly body: unknown }[] }> {
  const calls: { path: string; body: unknown }[] = []
  const recorder: Server = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push({ path: `${request.method} ${request.url}`, body: JSON.parse(body) })
      response.end('{"ok":true}')
    })
  })
  await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void recorder.close())
  return { url: `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`, calls }
}

describe('the examples', () => {
  it('are listed when no example or an unknown one is named', async () => {
    const { code, output } = await runCommand(process.execPath, [...NODE_FLAGS, RUN_EXAMPLE, 'burn'])
    expect([code, output]).toEqual([2, expect.stringContaining('console-chat, discord-bot')])
  })

  it.each([
    'console-chat/main.ts',
    'python-quickstart/main.py',
    'plot-dataframe/plot.py',
    'notebook-parameters/main.ts',
    'scheduled-report/main.ts',
    'mcp-agent/main.ts',
    'web-chat/main.ts',
    'slack-bot/main.ts',
    'discord-bot/main.ts',
  ])('%s says what is missing without a key', async (file) => {
    const { code, output } = await runCommand(
      file.endsWith('.py') ? 'python3' : process.execPath,
      [...NODE_FLAGS, join(EXAMPLES, file)].slice(file.endsWith('.py') ? 1 : 0),
      {
        env: { PATH: process.env['PATH'] },
      },
    )
    expect(code).toBe(1)
    expect(output).toContain('CELLBLOCK_API_KEY')
  })

  it('chats in the terminal with one container', async () => {
    const child = spawn(process.execPath, [...NODE_FLAGS, join(EXAMPLES, 'console-chat/main.ts')], { env })
    child.stdin.end('```python\\nx = 41\\n```\n```python\\nprint("x is", x + 1)\\n```\n')
    const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')])
    expect(printed).toContain('└ x is 42')
  })

  it('runs code from Python and lists the file that it wrote', async () => {
    const { stdout } = await example('python-quickstart/main.py')
    expect(stdout).toBe('status  succeeded\nprinted 30\nfile    /mnt/data/squares.csv 30 bytes\n')
  })

  it('plots a table by a question', async () => {
    const target = join(folder, 'plot.png')
    expect(await example('plot-dataframe/plot.py', [target])).toMatchObject({ code: 0 })
    expect((await readFile(target)).toString('hex', 0, 8)).toBe(PNG)
  })

  it('runs a notebook with parameters', async () => {
    const words = ['notebook-parameters', 'out.ipynb', 'rate=0.05', 'years=20', 'name="optimistic"']
    // As `npm run example` starts it, with a path relative to the folder of the caller.
    const called = { npm_lifecycle_event: 'example', INIT_CWD: folder }
    const result = await runCommand(process.execPath, [...NODE_FLAGS, RUN_EXAMPLE, ...words], { env: { ...env, ...called } })
    expect(result).toMatchObject({ code: 0, stdout: 'succeeded: wrote out.ipynb\n' })
    expect(await readFile(join(folder, 'out.ipynb'), 'utf8')).toContain('optimistic: 2653.30 euros after 20 years')
  })

  it('writes a report as PDF', async () => {
    const { stdout, code } = await example('scheduled-report/main.ts', [folder])
    expect(code).toBe(0)
    const path = /wrote (\S+)/.exec(stdout)?.[1] ?? ''
    expect((await readFile(path)).toString('latin1', 0, 5)).toBe('%PDF-')
  })

  it('answers with a model behind a local server', async () => {
    upstream.play((_, turn) =>
      turn === 0 ? call({ name: 'python', arguments: JSON.stringify({ code: 'print(6 * 7)' }) }) : say('It is 42.'),
    )
    const response = await server.openai.responses.create({
      model: 'local',
      input: 'What is six times seven?',
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    })
    expect(response.output_text).toBe('It is 42.')
    expect(JSON.stringify(upstream.requests[1]?.body.messages)).toContain('42')
  })

  it('provides the tools of the MCP server to an agent', async () => {
    const models = createServer((request, response) => {
      void text(request).then((body) => {
        const { messages } = JSON.parse(body) as { messages: { role: string; content: string }[] }
        const result = messages.find(({ role }) => role === 'tool')?.content
        const message =
          result === undefined
            ? { tool_calls: [{ id: 'c1', type: 'function', function: { name: 'execute_code', arguments: '{"code":"print(2 ** 10)"}' } }] }
            : { content: `The tool printed ${/\d{4}/.exec(result)?.[0]}.` }
        response.setHeader('content-type', 'application/json')
        response.end(
          JSON.stringify({ id: '1', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', ...message } }] }),
        )
      })
    })
    await new Promise<void>((resolve) => models.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void models.close())
    const base = `http://127.0.0.1:${(models.address() as AddressInfo).port}`
    const { stdout } = await example('mcp-agent/main.ts', [], { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: base })
    expect(stdout).toContain('answer     The tool printed 1024.')
  })

  it('embeds a chat in a web application that keeps the key on its server', async () => {
    const url = await listening('web-chat/main.ts')
    const page = await (await fetch(url)).text()
    expect(page).toContain('Shop assistant')
    const answer = await (await fetch(`${url}/ask`, { method: 'POST', body: JSON.stringify({ message: RUN, previous: null }) })).text()
    const lines = answer
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { text?: string; code?: string; id?: string })
    expect(lines.map((line) => line.text ?? '').join('')).toContain('42')
    expect(lines.find(({ code }) => code !== undefined)?.code).toContain('print(6 * 7)')
    expect(lines.at(-1)?.id).toMatch(/^resp_/)
    expect(page + answer).not.toContain(server.apiKey)
  })

  it('answers a mention in Slack, and no request without its signature', async () => {
    const slack = await recordCalls()
    const secret = 'slack-secret'
    const url = await listening('slack-bot/main.ts', {
      SLACK_SIGNING_SECRET: secret,
      SLACK_BOT_TOKEN: 'xoxb-test',
      SLACK_API_URL: slack.url,
    })
    const body = JSON.stringify({ type: 'event_callback', event: { type: 'app_mention', text: `<@U1> ${RUN}`, channel: 'C1', ts: '1.0' } })
    const time = String(Math.floor(Date.now() / 1000))
    const signature = `v0=${createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')}`
    const send = (given: string) =>
      fetch(url, { method: 'POST', body, headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': given } })
    expect((await send(signature.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')))).status).toBe(401)
    expect((await send(signature)).status).toBe(200)
    await expect.poll(() => slack.calls).toHaveLength(1)
    expect(slack.calls[0]).toMatchObject({
      path: 'POST /chat.postMessage',
      body: { channel: 'C1', thread_ts: '1.0', text: expect.stringContaining('42') },
    })
  })

  it('answers a slash command in Discord with text and files, and continues in the same channel', async () => {
    const discord = await DiscordStub.start()
    onTestFinished(() => discord.stop())
    const started = await listening('discord-bot/main.ts', { DISCORD_TOKEN: 'token-of-the-bot', DISCORD_API_URL: discord.url })
    expect(started).toBe('cellblock answers /ask')
    expect(discord.tokens).toEqual(['token-of-the-bot'])
    expect(discord.calls.find(({ route }) => route.startsWith('PUT '))?.body).toContain('"name":"ask"')

    const answers = () => discord.calls.filter(({ route }) => route.startsWith('PATCH '))
    const ask = (id: string, code: string): void =>
      discord.useCommand(id, 'ask', { name: 'question', value: `\`\`\`python\n${code}\n\`\`\`` })
    ask('200000000000000001', "open('total.txt', 'w').write('six times seven')\nx = 6 * 7\nprint('x is', x)")
    await expect.poll(() => answers().map(({ body }) => body)).toEqual([expect.stringContaining('x is 42')])
    expect(answers()[0]?.body).toMatch(/filename="total\.txt"[^]*six times seven[^]*"allowed_mentions":\{"parse":\[\]\}/)
    expect(discord.calls.map(({ route }) => route)).toContain('POST /v10/interactions/200000000000000001/token-200000000000000001/callback')
    ask('200000000000000002', 'print(x + 1)')
    await expect.poll(() => answers().map(({ body }) => body)).toEqual([expect.anything(), expect.stringContaining('43')])
  })

  it("names LibreChat's address as the server serves it", async () => {
    const compose = await readFile(join(EXAMPLES, 'librechat/compose.yaml'), 'utf8')
    const base = new URL(/LIBRECHAT_CODE_BASEURL: (\S+)/.exec(compose)?.[1] ?? '').pathname
    const answer = await fetch(`${server.url}${base}/exec`, {
      method: 'POST',
      headers: { 'x-api-key': server.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ lang: 'py', code: 'print(6 * 7)' }),
    })
    expect(await answer.json()).toMatchObject({ status: 'succeeded', stdout: '42\n' })
  })

  it('finds the library of a custom image', async () => {
    const container = await server.native.json<{ id: string }>('POST', '/v1/containers', { name: 'team', image: 'team' })
    expect(await server.native.run(container.id, 'import company_style\nprint(len(company_style.COLOURS))')).toMatchObject({
      stdout: '3\n',
    })
  })
})

describe('the documentation', () => {
  it.each(guideSnippets())('$page: block $block prints what the page says', async ({ page, script, expected }) => {
    const result = await runSnippet(script, {
      folder: join(folder, page),
      env: { ...env, CELLBLOCK_ADMIN_KEY: ADMIN_KEY },
    })
    expect(result, result.output).toMatchObject({ code: 0, stdout: expected })
  })

  it('README.md: the first call runs code', async () => {
    const readme = await readFile(join(EXAMPLES, '../README.md'), 'utf8')
    const script = /```sh\n(curl [\s\S]*?)\n```\n/.exec(readme)?.[1] ?? ''
    const command = script.replace('http://127.0.0.1:8787', server.url).replace('ck_…', server.apiKey)
    expect((await runSnippet(command, { folder, env })).stdout).toContain('"logs":"45"')
  })
})
