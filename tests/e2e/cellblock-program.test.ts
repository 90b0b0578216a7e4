import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts')

interface ProgramResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}
type Env = Readonly<Record<string, string>>

let server: LocalServerProcess
let folder: string

beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_POOL: '2' } })
  folder = await mkdtemp(join(tmpdir(), 'cellblock-program-'))
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const start = (args: readonly string[], env: Env = {}) =>
  spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    // What npm sets for its scripts must not move the base of relative paths.
    env: {
      ...process.env,
      INIT_CWD: tmpdir(),
      CELLBLOCK_URL: server.url,
      CELLBLOCK_API_KEY: server.apiKey,
      XDG_CONFIG_HOME: folder,
      ...env,
    },
  })

async function cellblock(args: readonly string[], options: { readonly input?: string; readonly env?: Env } = {}): Promise<ProgramResult> {
  const child = start(args, options.env)
  const written = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (written.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (written.stderr += chunk.toString()))
  child.stdin.end(options.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...written }
}

describe('shell', () => {
  it('runs one command line with separate output streams and its exit code', async () => {
    const result = await cellblock(['shell', '-c', 'echo out; echo err >&2; exit 5'])
    expect(result).toMatchObject({ code: 5, stdout: 'out\n', stderr: expect.stringContaining('err\n') })
  })

  it('sends what is typed to a shell in a terminal, and ends with it', async () => {
    const result = await cellblock(['shell'], { input: 'echo $((40 + 2)) in $(tty | cut -c1-8)\nexit 4\n' })
    expect(result).toMatchObject({ code: 4, stdout: expect.stringContaining('42 in /dev/pts') })
  })
})

describe('run', () => {
  it('prints output while the code runs, and cancels on Ctrl-C', async () => {
    const child = start(['run', '-'])
    child.stdin.end("import time\nprint('first', flush=True)\ntime.sleep(600)\nprint('last')")
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    expect(chunk.toString()).toBe('first\n')
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([130, null])
  })

  it('uploads files, separates stdout and stderr, and downloads what the code wrote', async () => {
    await writeFile(join(folder, 'in.csv'), 'a,b\n1,2\n')
    await writeFile(
      join(folder, 'code.py'),
      "import sys\nprint(open('/mnt/data/in.csv').read(), end='')\nprint('err', file=sys.stderr)\nimport os\nos.makedirs('/mnt/data/sub')\nopen('/mnt/data/sub/a.txt', 'w').write('hello');",
    )
    const result = await cellblock(['run', 'code.py', '--file', 'in.csv', '--out', 'results'])
    expect(result).toMatchObject({ code: 0, stdout: 'a,b\n1,2\n' })
    expect(result.stderr).toMatch(/^err\n/)
    expect(await readFile(join(folder, 'results/sub/a.txt'), 'utf8')).toBe('hello')
  })

  it.each([
    ['1 / 0', [], 1, 'ZeroDivisionError'],
    ['import sys; sys.exit(7)', [], 7, ''],
    ['import time; time.sleep(600)', ['--timeout', '1'], 124, 'timed_out: deadline'],
  ] as const)('ends %j with the exit code of its outcome', async (input, options, code, sentence) => {
    expect(await cellblock(['run', '-', ...options], { input })).toMatchObject({ code, stderr: expect.stringContaining(sentence) })
  })

  it('continues in the given container', async () => {
    const container = await server.native.createContainer()
    await cellblock(['run', '-', '--container', container], { input: 'x = 41' })
    const next = await cellblock(['run', '-', '--container', container, '--json'], { input: 'print(x + 1)' })
    expect(JSON.parse(next.stdout)).toMatchObject({ status: 'succeeded', stdout: '42\n' })
  })

  it.each([
    ['a wrong key', { CELLBLOCK_API_KEY: 'ck_wrong' }, 'The API key is missing or not valid'],
    ['no key', { CELLBLOCK_API_KEY: '' }, 'No API key is known'],
    ['no server', { CELLBLOCK_URL: 'http://127.0.0.1:9' }, 'No server answers at http://127.0.0.1:9'],
  ] as const)('refuses %s with exit code 3', async (_, env, sentence) => {
    expect(await cellblock(['run', '-'], { input: '1', env })).toMatchObject({ code: 3, stderr: expect.stringContaining(sentence) })
  })
})

it('runs a notebook with parameters and writes it with its outputs', async () => {
  const cell = (source: string, tags: readonly string[] = []) => ({
    cell_type: 'code',
    metadata: { tags },
    source,
    outputs: [],
    execution_count: null,
  })
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [cell("region = 'none'\nfactor = 1", ['parameters']), cell('print(region, factor * 2)')],
  }
  await writeFile(join(folder, 'in.ipynb'), JSON.stringify(notebook))
  const result = await cellblock(['notebook', 'run', 'in.ipynb', '-o', 'out.ipynb', '-p', 'region=EU "west"', '-p', 'factor=21'])
  expect(result).toMatchObject({ code: 0, stdout: 'EU "west" 42\n' })
  expect(JSON.parse(await readFile(join(folder, 'out.ipynb'), 'utf8'))).toMatchObject({
    cells: [{}, { metadata: { tags: ['injected-parameters'] } }, { outputs: [{ output_type: 'stream', text: expect.anything() }] }],
  })
})

it('streams the answer of a chat turn, continues the conversation and downloads cited files', async () => {
  const code = "```python\nopen('/mnt/data/sum.txt', 'w').write('6')\nprint(1 + 2 + 3)\n```"
  const once = await cellblock(['chat', '--model', 'demo', '--out', 'answers', code])
  expect(once).toMatchObject({ code: 0, stderr: expect.stringContaining('6') })
  expect(once.stdout).not.toBe('\n')

  const talk = await cellblock(['chat', '--model', 'demo'], { input: '```python x = 20```\nhello\n' })
  expect(talk.code).toBe(0)
})

describe('chat', () => {
  const LOOP = "```python\nimport time\nprint('first', flush=True)\ntime.sleep(600)\nprint('last')\n```"

  it('shows output while the code runs, and cancels the turn on Ctrl-C', async () => {
    const child = start(['chat', '--model', 'demo', LOOP])
    let shown = ''
    child.stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    child.stdin.end()
    await expect.poll(() => shown, { timeout: 60_000 }).toMatch(/^│ print\('last'\)\n.*first\n$/ms)
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([130, null])
    expect(shown).toContain('The turn was cancelled.')
    expect(shown).not.toContain('Error')
  })

  it('continues a conversation after a turn, and ends on Ctrl-C with exit code 130', async () => {
    const child = start(['chat', '--model', 'demo'])
    let [shown, answers] = ['', '']
    child.stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    child.stdout.on('data', (chunk: Buffer) => (answers += chunk.toString()))
    child.stdin.write('hello\n')
    await expect.poll(() => answers, { timeout: 60_000 }).toMatch(/the built-in demo.*\n$/s)
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([130, null])
    expect(shown).not.toContain('Error')
  })
})

it.each([
  ['report.xyz', 'The ending .xyz names no language'],
  ['report.ipynb', 'cellblock notebook run report.ipynb'],
])('refuses to guess the language of %s', async (name, sentence) => {
  expect(await cellblock(['run', name])).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) })
})

it('prints its version', async () => {
  const { stdout } = await cellblock(['--version'])
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('manages containers and files, and prints the events of an execution', async () => {
  const { stdout } = await cellblock(['containers', 'create', 'terminal'])
  const container = stdout.trim()
  await writeFile(join(folder, 'up.txt'), 'from here')
  expect(await cellblock(['files', 'upload', container, 'up.txt'])).toMatchObject({ code: 0, stdout: '/mnt/data/up.txt\n' })
  expect((await cellblock(['files', 'list', container])).stdout).toMatch(/cfile_\S+ +9 +\/mnt\/data\/up\.txt/)
  await cellblock(['files', 'download', container, 'up.txt', '-o', 'copy'])
  expect(await readFile(join(folder, 'copy/up.txt'), 'utf8')).toBe('from here')
  expect(await cellblock(['files', 'download', container, 'absent.txt'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('absent.txt'),
  })

  const { id } = await server.native.run(container, 'print("logged")')
  expect((await cellblock(['logs', id.replace(/.$/, id.endsWith('0') ? '1' : '0')])).stderr).toMatch(
    /^No execution .* exists\. List yours with `cellblock runs`\./,
  )
  expect(await cellblock(['logs', id])).toMatchObject({ code: 0, stdout: 'logged\n' })
  expect((await cellblock(['usage'])).stdout).toMatch(/^total +[1-9]/m)
  expect((await cellblock(['limits'])).stdout).toMatch(/^ {2}live_containers +\d+/m)
  expect((await cellblock(['runs', container])).stdout).toMatch(new RegExp(`^${id} +${container} +python +succeeded`, 'm'))
  expect((await cellblock(['runs', '-n', '1'])).stdout).toContain(id)

  expect((await cellblock(['containers', 'list'])).stdout).toContain(container)
  expect(await cellblock(['containers', 'delete', container])).toMatchObject({ code: 0 })
  expect((await cellblock(['containers', 'list', '--json'])).stdout).not.toContain(container)
})

it('stores a checked key for later calls, readable by the user only', async () => {
  const env = { CELLBLOCK_API_KEY: '', CELLBLOCK_URL: '', XDG_CONFIG_HOME: join(folder, 'home') }
  expect(await cellblock(['login', '--url', server.url], { input: 'ck_wrong\n', env })).toMatchObject({ code: 3 })
  expect(await cellblock(['login', '--url', server.url], { input: `${server.apiKey}\n`, env })).toMatchObject({ code: 0 })
  expect((await stat(join(folder, 'home/cellblock/login.json'))).mode & 0o777).toBe(0o600)
  expect((await cellblock(['whoami'], { env })).stdout).toContain(join(folder, 'home/cellblock/login.json'))
  const checks = await cellblock(['doctor'], { env })
  expect(checks).toMatchObject({ code: 0 })
  expect(checks.stdout.match(/^ok /gm)).toHaveLength(5)
  expect((await cellblock(['logout'], { env })).stderr).toContain('Removed')
  expect(await cellblock(['whoami'], { env })).toMatchObject({ code: 3, stderr: expect.stringContaining('No API key is known') })
})
