import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { docSettings, docSnippets, runDocSnippet } from '../client-compat/doc-snippets.ts'
import { createTenant } from '../support/create-tenant.ts'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'
import { terminalClient, type TerminalCall } from '../support/terminal-client.ts'

interface Process {
  readonly id: string
  readonly status: string
  readonly exit_code: number | null
  readonly output: readonly { readonly data: string }[]
  readonly next_offset: number
}
type Run = (command: string, query?: string) => Promise<Process>

let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** The terminal of one user. */
const terminalOf = (user: string, { url, apiKey }: Pick<LocalServerProcess, 'url' | 'apiKey'> = server) => {
  const client = terminalClient(url, apiKey)
  const call: TerminalCall = (method, path, request) => client(method, path, { user, chat: 'chat', ...request })
  const json = async <T>(answer: Promise<Response>): Promise<T> => (await (await answer).json()) as T
  const run: Run = (command, query = '?wait=60') => json(call('POST', `/execute${query}`, { body: { command } }))
  return { call, json, run }
}
const printed = ({ output }: Process): string =>
  output
    .map(({ data }) => data)
    .join('')
    .replaceAll('\r\n', '\n')

it(
  'files are written, run, plotted, downloaded, and found after a restart; another user has none of them',
  { timeout: 240_000 },
  async () => {
    await using made = new AsyncDisposableStack()
    const dataDir = await mkdtemp(join(tmpdir(), 'cellblock-open-webui-'))
    made.defer(() => rm(dataDir, { recursive: true, force: true }))
    const first = await startServer({ dataDir })
    made.defer(async () => void (await first.stop()))
    const ann = terminalOf('ann', first)
    const program = 'import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.savefig("plot.png")\nprint("drawn")\n'
    await ann.call('POST', '/files/write', { body: { path: 'work/draw.py', content: program } })
    await ann.call('POST', '/files/cwd', { body: { path: 'work' } })
    expect(await ann.run('pwd && python3 draw.py')).toMatchObject({ status: 'done', exit_code: 0 })
    expect(await ann.json(ann.call('GET', '/files/display?path=plot.png'))).toEqual({ path: '/home/user/work/plot.png', exists: true })
    const plot = Buffer.from(await (await ann.call('GET', '/files/view?path=/home/user/work/plot.png')).arrayBuffer())
    expect(plot.subarray(1, 4).toString()).toBe('PNG')
    const long = await ann.run('echo run >> runs; for i in $(seq 40); do echo $i; sleep 0.2; done', '')
    expect(long.status).toBe('running')
    await expect.poll(async () => printed(await ann.json(ann.call('GET', `/execute/${long.id}/status`)))).toContain('3\n')
    await first.kill()

    const second = await startServer({ dataDir })
    made.defer(async () => void (await second.stop()))
    const again = terminalOf('ann', second)
    const status = async (): Promise<Process> => again.json(again.call('GET', `/execute/${long.id}/status?wait=60`))
    await expect.poll(async () => (await status()).status, { timeout: 60_000 }).toBe('done')
    expect(printed(await status())).toBe(Array.from({ length: 40 }, (_, index) => `${index + 1}\n`).join(''))
    expect(printed(await again.run('pwd; cat runs; ls'))).toBe('/home/user/work\nrun\ndraw.py  plot.png  runs\n')
    expect(Buffer.from(await (await again.call('GET', '/files/view?path=/home/user/work/plot.png')).arrayBuffer()).equals(plot)).toBe(true)

    const other = { url: second.url, apiKey: await createTenant(second, 'other') }
    for (const unknown of [terminalOf('bob', second), terminalOf('ann', other)]) {
      expect(printed(await unknown.run('ls -A /home/user'))).toBe('')
      expect((await unknown.call('GET', `/execute/${long.id}/status`)).status).toBe(404)
      expect((await unknown.call('GET', '/files/view?path=/home/user/work/plot.png')).status).toBe(404)
    }
  },
)

it('a running program is typed to, interrupted and killed', { timeout: 120_000 }, async () => {
  const { call, json, run } = terminalOf('typist')
  const python = await run('python3 -q', '')
  const type = (input: string) => call('POST', `/execute/${python.id}/input`, { body: { input } })
  const shown = async (): Promise<string> => printed(await json(call('GET', `/execute/${python.id}/status`)))
  await type('6 * 7\\n')
  await expect.poll(shown, { timeout: 30_000 }).toContain('\n42\n')
  await type('import time; time.sleep(600)\\n')
  // A terminal drops a line that its program has not read when it is interrupted.
  await expect.poll(shown, { timeout: 30_000 }).toMatch(/>>> import time; time\.sleep\(600\)\n$/)
  await type('\\x03')
  await expect.poll(shown, { timeout: 30_000 }).toContain('KeyboardInterrupt')
  expect(await json(call('DELETE', `/execute/${python.id}`))).toEqual({ status: 'killed' })
  expect(await json(call('GET', `/execute/${python.id}/status?wait=30`))).toMatchObject({ exit_code: expect.any(Number) })
  const stubborn = await run("trap '' TERM; echo ready; while :; do sleep 0.2; done", '')
  await expect.poll(async () => printed(await json(call('GET', `/execute/${stubborn.id}/status`))), { timeout: 30_000 }).toContain('ready')
  await call('DELETE', `/execute/${stubborn.id}?force=true`)
  expect(await json(call('GET', `/execute/${stubborn.id}/status?wait=30`))).toMatchObject({ status: 'killed' })
  expect(await json(call('GET', '/execute'))).toEqual([])
})

it('files are listed, searched, changed, moved and removed', { timeout: 120_000 }, async () => {
  const { call, json, run } = terminalOf('searcher')
  const write = (path: string, content: string) => call('POST', '/files/write', { body: { path, content } })
  await write('src/a.py', 'import os\nprint("one (1)")\nprint("two")\n')
  await write('src/deep/b.txt', 'one (1)\n')
  await write('src/.hidden', 'one\n')
  const get = (path: string) => json<Record<string, unknown>>(call('GET', path))
  expect(await get('/files/list?directory=src')).toMatchObject({
    dir: '/home/user/src',
    entries: [{ name: '.hidden' }, { name: 'a.py', type: 'file', size: 40 }, { name: 'deep', type: 'directory' }],
  })
  const lines = { file: '/home/user/src/a.py', line: 2, content: 'print("one (1)")' }
  expect(await get('/files/grep?query=one%20%5C(&path=src&include=*.py')).toMatchObject({ matches: [lines], truncated: false })
  expect(
    await get('/files/grep?query=ONE%20(1&regex=false&case_insensitive=true&path=src&match_per_line=False&max_results=1'),
  ).toMatchObject({
    matches: [{ file: '/home/user/src/a.py' }],
    truncated: true,
  })
  expect(await get('/files/glob?pattern=*.txt&path=src')).toMatchObject({ matches: [{ path: 'deep/b.txt', type: 'file', size: 8 }] })
  expect(await get('/files/search?query=b.t&path=src')).toMatchObject({ results: [{ path: '/home/user/src/deep/b.txt', name: 'b.txt' }] })
  expect(await get('/files/matches?query=two&path=src')).toMatchObject({
    results: [{ path: '/home/user/src/a.py', name_match: false, content_matches: [{ line: 3, column: 8, text: 'print("two")' }] }],
    next_offset: null,
  })
  expect((await call('GET', '/files/grep?query=(')).status).toBe(400)
  expect((await call('GET', '/files/glob?pattern=x&path=nowhere')).status).toBe(404)
  const replace = (replacements: readonly object[]) => call('POST', '/files/replace', { body: { path: 'src/a.py', replacements } })
  expect(
    (
      await replace([
        { target: 'two', replacement: 'three' },
        { target: 'absent', replacement: 'x' },
      ])
    ).status,
  ).toBe(400)
  expect((await replace([{ target: 'print', replacement: 'echo' }])).status).toBe(400)
  expect(
    (
      await replace([
        { target: 'print', replacement: 'echo', start_line: 3 },
        { target: 'one', replacement: 'first' },
      ])
    ).status,
  ).toBe(200)
  expect(await get('/files/read?path=src/a.py')).toMatchObject({ content: 'import os\nprint("first (1)")\necho("two")\n' })
  const packed = Buffer.from(await (await call('POST', '/files/archive', { body: { paths: ['src', '/etc/passwd'] } })).arrayBuffer())
  const names = Object.fromEntries(Object.entries(unzipSync(packed)).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]))
  expect(names).toMatchObject({ 'src/deep/b.txt': 'one (1)\n', passwd: expect.stringContaining('root:') })
  expect((await call('POST', '/files/archive', { body: { paths: ['absent'] } })).status).toBe(404)
  expect(printed(await run('ls -A /tmp | grep archive'))).toBe('')
  expect((await call('POST', '/files/move', { body: { source: 'src/a.py', destination: 'src/deep/b.txt' } })).status).toBe(409)
  await call('POST', '/files/move', { body: { source: 'src/deep', destination: 'moved' } })
  expect(await json(call('DELETE', '/files/delete?path=src'))).toEqual({ path: '/home/user/src', type: 'directory' })
  expect(printed(await run('find . -type f'))).toBe('./moved/b.txt\n')
})

it('a file of a running program is read as it is, and one that is written reaches the program', { timeout: 120_000 }, async () => {
  const { call, json, run } = terminalOf('worker')
  const waiting = await run('echo begun > begun.txt; until [ -e go.txt ]; do sleep 0.1; done; cat go.txt', '')
  const read = async (path: string): Promise<unknown> =>
    (await json<{ readonly content?: string }>(call('GET', `/files/read?path=${path}`))).content
  await expect.poll(() => read('begun.txt'), { timeout: 30_000 }).toBe('begun\n')
  await call('POST', '/files/write', { body: { path: 'go.txt', content: 'went' } })
  expect(printed(await json(call('GET', `/execute/${waiting.id}/status?wait=30`)))).toBe('went')
})

it('a shell on a WebSocket runs what is typed, and ends with its connection', { timeout: 120_000 }, async () => {
  const { call, json } = terminalOf('shell-user')
  const { id } = await json<{ readonly id: string }>(call('POST', '/api/terminals'))
  const headers = { 'x-user-id': 'shell-user', 'x-session-id': 'chat' }
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/open-webui/api/terminals/${id}`, { headers })
  let printed = ''
  socket.on('message', (data: Buffer) => (printed += data.toString()))
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ type: 'auth', token: server.apiKey }))
  socket.send(JSON.stringify({ type: 'resize', cols: 101, rows: 31 }))
  socket.send(Buffer.from('stty size; echo $((6 * 7)); sleep 1000\r'))
  await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/31 101\r\n42\r\n/)
  expect(await json(call('GET', '/api/terminals'))).toMatchObject([{ id }])
  socket.close()
  await expect.poll(() => json(call('GET', '/api/terminals')), { timeout: 30_000 }).toEqual([])
})

it('the blocks of the page about the terminal of Open WebUI are as the server expects them', { timeout: 120_000 }, async () => {
  const section = "Open WebUI's terminal"
  const [{ TERMINAL_SERVER_CONNECTIONS: connections = '[]' } = {}] = docSettings(section, server)
  const [{ url, key, path }] = JSON.parse(connections) as [{ url: string; key: string; path: string }]
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
  expect(Object.keys(((await answer.json()) as { readonly paths: object }).paths)).toContain('/execute')
  const blocks = docSnippets().filter(({ client }) => client === section)
  expect(blocks).toHaveLength(1)
  for (const block of blocks) expect(await runDocSnippet(block, { ...server, model: '', python: 'python3' })).toBeNull()
})

it('a notebook runs cell by cell, each session with its own variables, and keeps its results', { timeout: 120_000 }, async () => {
  const { call, json, run } = terminalOf('notebook-user')
  const cell = (source: string) => ({
    cell_type: 'code',
    id: source.slice(0, 8).replaceAll(/\W/g, '-'),
    metadata: {},
    source,
    outputs: [],
    execution_count: null,
  })
  const text = { cell_type: 'markdown', id: 'title', metadata: {}, source: '# Title' }
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec: { name: 'python3', display_name: 'Python' } },
    cells: [text, cell('n = 6'), cell('print(n)\nn * 7'), cell('1 / 0')],
  }
  await call('POST', '/files/write', { body: { path: 'a.ipynb', content: JSON.stringify(notebook) } })
  const open = () =>
    json<{ readonly id: string; readonly kernel: string; readonly status: string }>(
      call('POST', '/notebooks', { body: { path: 'a.ipynb' } }),
    )
  const first = await open()
  expect(first).toMatchObject({ kernel: 'python3', status: 'ready' })
  const execute = ({ id }: { readonly id: string }, cell_index: number, source?: string) =>
    json<Record<string, unknown>>(
      call('POST', `/notebooks/${id}/execute`, { body: { cell_index, ...(source !== undefined && { source }) } }),
    )
  expect(await execute(first, 1)).toMatchObject({ status: 'ok', outputs: [] })
  expect(await execute(first, 2)).toMatchObject({
    status: 'ok',
    outputs: [
      { output_type: 'stream', text: '6\n' },
      { output_type: 'execute_result', data: { 'text/plain': '42' } },
    ],
  })
  expect(await execute(first, 3)).toMatchObject({ status: 'error', outputs: [{ output_type: 'error', ename: 'ZeroDivisionError' }] })
  const second = await open()
  expect(await execute(second, 2)).toMatchObject({ status: 'error', outputs: [{ ename: 'NameError' }] })
  expect(await execute(first, 2, 'n + 1')).toMatchObject({ status: 'ok', outputs: [{ data: { 'text/plain': '7' } }] })
  const saved = JSON.parse((await json<{ readonly content: string }>(call('GET', '/files/read?path=a.ipynb'))).content) as typeof notebook
  expect(saved.cells[0]).toEqual(text)
  expect(saved.cells[2]).toMatchObject({ source: 'n + 1', outputs: [{ output_type: 'execute_result' }] })
  expect(printed(await run("python3 -c \"import nbformat; nbformat.validate(nbformat.read('a.ipynb', 4)); print('valid')\""))).toBe(
    'valid\n',
  )
  expect(await json(call('DELETE', `/notebooks/${first.id}`))).toEqual({ status: 'stopped' })
  expect(await execute(first, 2, 'n')).toMatchObject({ outputs: [{ ename: 'NameError' }] })
  for (const id of ['x', first.id.replace(/^.{12}/, 'x'), `0123456789ab-${Buffer.from('/home/user/none.ipynb').toString('base64url')}`])
    expect((await call('GET', `/notebooks/${id}`)).status).toBe(404)
  expect((await terminalOf('mallory').call('GET', `/notebooks/${second.id}`)).status).toBe(404)
  expect((await call('POST', `/notebooks/${second.id}/execute`, { body: { cell_index: 0 } })).status).toBe(400)
})
