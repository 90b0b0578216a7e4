import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'
import { terminalClient, type TerminalCall } from '../../support/terminal-client.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { keyCacheMs: 0 } })
})
afterAll(() => api.stop())

interface Account {
  readonly tenant: string
  readonly call: TerminalCall
}
/** Each test has its own account, so that it has one container. */
async function newAccount(): Promise<Account> {
  const { tenant, key } = await api.newKey()
  return { tenant, call: terminalClient(api.url, key) }
}

const containerOf = async ({ tenant }: Account) =>
  (await api.table.containers.list(tenant, { after: null, limit: 1, order: 'desc', name: null })).rows[0]

/** Answers the command that a call waits for, as the sandbox would; returns what it was asked. */
async function sandboxAnswers(account: Account, answer: unknown): Promise<Readonly<Record<string, unknown>>> {
  const commands = async (): Promise<readonly string[]> => (await containerOf(account))?.commands ?? []
  await expect.poll(commands).not.toEqual([])
  const [id = ''] = await commands()
  const row = await api.table.executions.get(account.tenant, id)
  const stdout = typeof answer === 'string' ? answer : JSON.stringify(answer)
  await finishExecution(api, account.tenant, id, { result: { stdout, exit: { code: 0, signal: null } } })
  await api.table.containers.removeCommand(account.tenant, row?.containerId ?? '', { commandId: id, now: Date.now() })
  return JSON.parse(row?.source.kind === 'command' ? (row.source.argv.at(-1) ?? '') : '') as Record<string, unknown>
}
const entry = (name: string, more: object = {}) => ({
  path: `/mnt/data/${name}`,
  name,
  type: 'file',
  bytes: 1,
  modified_at: 1_500,
  mode: 420,
  ...more,
})
const refused = async (answer: Response): Promise<unknown> => [answer.status, ((await answer.json()) as { detail: string }).detail]

describe('a file', () => {
  it('is written and read by its lines', async () => {
    const { call } = await newAccount()
    const written = await call('POST', '/files/write', { body: { path: 'notes/a.txt', content: 'one\ntwo\r\n3°' } })
    expect(await written.json()).toEqual({ path: '/home/user/notes/a.txt', size: 12 })
    const read = async (query: string): Promise<unknown> => (await call('GET', `/files/read?path=notes/a.txt${query}`)).json()
    expect(await read('')).toEqual({ path: '/home/user/notes/a.txt', total_lines: 3, content: 'one\ntwo\r\n3°' })
    expect(await read('&start_line=2')).toMatchObject({ content: 'two\r\n3°' })
    expect(await read('&start_line=2&end_line=2')).toMatchObject({ content: 'two\r\n', total_lines: 3 })
    expect(await read('&start_line=9')).toMatchObject({ content: '' })
    expect((await call('GET', '/files/read?path=notes/a.txt&start_line=0')).status).toBe(400)
  })

  it('is found under every name of the home folder, and by every wire', async () => {
    const account = await newAccount()
    for (const path of ['/home/user/a.txt', '~/b.txt', '/mnt/data/c.txt', './x/../d.txt'])
      expect((await account.call('POST', '/files/write', { body: { path, content: 'x' } })).status).toBe(200)
    const files = await api.table.files.all(account.tenant, (await containerOf(account))?.id ?? '')
    expect(files.map(({ path }) => path).toSorted()).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt'])
  })

  it('comes as its bytes for the page, with its type', async () => {
    const { call } = await newAccount()
    const bytes = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0xff])
    const form = new FormData()
    form.append('file', new Blob([bytes]), 'deep/../plot.png')
    const uploaded = await call('POST', '/files/upload?directory=/home/user/out', { body: form })
    expect(await uploaded.json()).toEqual({ path: '/home/user/out/plot.png', size: 5 })
    for (const path of ['/files/view?path=out/plot.png', '/files/read?path=out/plot.png']) {
      const answer = await call('GET', path)
      expect([answer.headers.get('content-type'), new Uint8Array(await answer.arrayBuffer())]).toEqual(['image/png', bytes])
      // The page of Open WebUI has another origin than its API only where a browser obeys these.
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  it('is served to frames at its own address, without an origin', async () => {
    const { call } = await newAccount()
    await call('POST', '/files/write', { body: { path: 'site/café a.html', content: '<script src="a.js"></script>' } })
    const answer = await call('GET', '/files/serve/home/user/site/caf%C3%A9%20a.html')
    expect([answer.status, await answer.text()]).toEqual([200, '<script src="a.js"></script>'])
    expect(answer.headers.get('content-type')).toBe('text/html')
    expect(answer.headers.get('content-security-policy')).toMatch(/^sandbox (?!.*allow-same-origin)/)
    expect((await call('GET', '/files/serve/home/user/site/none.js')).status).toBe(404)
    expect((await call('POST', '/files/serve/home/user/site/none.js')).status).toBe(405)
  })

  it('is not read as text when it has other bytes, or too many', async () => {
    const { call } = await newAccount()
    const form = new FormData()
    form.append('file', new Blob([Uint8Array.from([0, 0xff])]), 'a.bin')
    await call('POST', '/files/upload?directory=.', { body: form })
    expect(await refused(await call('GET', '/files/read?path=a.bin'))).toEqual([415, expect.stringContaining('not text')])
    await call('POST', '/files/write', { body: { path: 'big.txt', content: 'x'.repeat(4 * 1024 ** 2 + 1) } })
    expect(await refused(await call('GET', '/files/read?path=big.txt'))).toEqual([413, expect.stringContaining('sed -n')])
    expect((await (await call('GET', '/files/view?path=big.txt')).arrayBuffer()).byteLength).toBe(4 * 1024 ** 2 + 1)
  })

  it.each([
    ['GET', '/files/read', {}],
    ['GET', `/files/view?path=${'x'.repeat(1_025)}`, {}],
    ['GET', '/files/view?path=a%00b', {}],
    ['POST', '/files/write', { body: { path: '', content: '' } }],
    ['POST', '/files/write', { body: { path: 'a' } }],
    ['POST', '/files/move', { body: { source: 'a' } }],
    ['DELETE', '/files/delete', {}],
    ['POST', '/files/upload?directory=.', { body: new FormData() }],
    ['GET', '/files/grep', {}],
    ['GET', '/files/grep?query=x&max_results=501', {}],
    ['GET', '/files/grep?query=x&regex=maybe', {}],
    ['GET', '/files/glob?pattern=x&type=link', {}],
    ['GET', '/files/matches?query=%20', {}],
    ['POST', '/files/replace', { body: { path: 'a', replacements: [] } }],
    ['POST', '/files/replace', { body: { path: 'a', replacements: [{ target: '', replacement: 'x' }] } }],
  ] as const)('%s %s is refused with 400', async (method, path, request) => {
    const { call } = await newAccount()
    expect(await refused(await call(method, path, request))).toEqual([400, expect.any(String)])
  })
})

describe('in the sandbox, a call', () => {
  it('lists a folder', async () => {
    const account = await newAccount()
    const listing = account.call('GET', '/files/list?directory=src')
    const resolved = { path: '/mnt/data/x', type: 'folder', mode: 493 }
    const entries = [entry('a.txt'), entry('sub', { type: 'folder' }), entry('link', { type: 'link', target: 'x', resolved })]
    expect(await sandboxAnswers(account, { entries, is_truncated: true })).toMatchObject({ op: 'list', path: '/mnt/data/src' })
    const file = { size: 1, modified: 1.5 }
    expect(await (await listing).json()).toEqual({
      dir: '/home/user/src',
      writable: true,
      truncated: true,
      entries: [
        { name: 'a.txt', type: 'file', ...file },
        { name: 'sub', type: 'directory', ...file },
        { name: 'link', type: 'directory', ...file },
      ],
    })
  })

  it('moves, makes and removes', async () => {
    const account = await newAccount()
    const moving = account.call('POST', '/files/move', { body: { source: 'a', destination: '/tmp/b' } })
    expect(await sandboxAnswers(account, { entry: entry('b') })).toMatchObject({ op: 'move', from: '/mnt/data/a', to: '/tmp/b' })
    expect(await (await moving).json()).toEqual({ source: '/home/user/a', destination: '/tmp/b' })
    const making = account.call('POST', '/files/mkdir', { body: { path: 'new/deep' } })
    await sandboxAnswers(account, { entry: entry('deep', { type: 'folder' }), is_new: true })
    expect(await (await making).json()).toEqual({ path: '/home/user/new/deep' })
    const removing = account.call('DELETE', '/files/delete?path=new')
    await sandboxAnswers(account, { entry: entry('new', { type: 'folder' }) })
    expect(await sandboxAnswers(account, { removed: 2 })).toMatchObject({ op: 'remove', path: '/mnt/data/new', recursive: true })
    expect(await (await removing).json()).toEqual({ path: '/home/user/new', type: 'directory' })
  })

  it('searches with the arguments of the model', async () => {
    const account = await newAccount()
    const searching = account.call('GET', '/files/grep?query=a%2Bb&path=src&regex=False&case_insensitive=True&include=*.py&include=*.txt')
    const match = { file: '/mnt/data/src/a.py', line: 2, content: 'a+b' }
    const asked = await sandboxAnswers(account, { matches: [match], truncated: false })
    expect(asked).toEqual({
      op: 'grep',
      query: 'a+b',
      path: '/mnt/data/src',
      regex: false,
      case_insensitive: true,
      include: ['*.py', '*.txt'],
      match_per_line: true,
      max_results: 50,
    })
    expect(await (await searching).json()).toEqual({
      query: 'a+b',
      path: '/home/user/src',
      matches: [{ ...match, file: '/home/user/src/a.py' }],
      truncated: false,
    })
    const globbing = account.call('GET', '/files/glob?pattern=*.py&exclude=b.py&exclude=c.py&type=file')
    expect(await sandboxAnswers(account, { matches: [], truncated: false })).toMatchObject({ exclude: ['b.py', 'c.py'], type: 'file' })
    expect((await globbing).status).toBe(200)
  })

  it.each([
    [{ error: { code: 'not_found', message: 'There is no file a.' } }, 404],
    [{ error: { code: 'invalid', message: 'The text was not found. Nothing was changed.' } }, 400],
    [{ error: { code: 'other', message: 'x' } }, 409],
    [{ size: '1' }, 503],
    ['no JSON', 503],
  ])('answers what the sandbox says: %j is %i', async (answer, status) => {
    const account = await newAccount()
    const body = { path: 'a', replacements: [{ target: 'x', replacement: 'y' }] }
    const replacing = account.call('POST', '/files/replace', { body })
    await sandboxAnswers(account, answer)
    expect(await refused(await replacing)).toEqual([status, expect.any(String)])
  })
})

it('skills are found in the home folder, the first of a name, and read without a sandbox', async () => {
  const account = await newAccount()
  const { call } = account
  expect(await (await call('GET', '/skills')).json()).toEqual([])
  const write = (path: string, content: string) => call('POST', '/files/write', { body: { path, content } })
  const manifest = (name: string, description: string) => `---\nname: ${name}\ndescription: ${description}\n---\n\nUse it.\n`
  await write('.claude/skills/plots/SKILL.md', manifest('plots', 'Other plots.'))
  await write('.agents/skills/plots/SKILL.md', manifest('plots', 'Draws plots.'))
  await write('.agents/skills/plots/lib/draw.py', 'x')
  await write('.agents/skills/broken/SKILL.md', 'no front matter')
  await write('.agents/skills/SKILL.md', manifest('top', 'Too high.'))
  await write('.agents/skills/a/b/SKILL.md', manifest('deep', 'Too deep.'))
  const skill = {
    id: 'terminal:plots',
    name: 'plots',
    description: 'Draws plots.',
    location: '/home/user/.agents/skills/plots/SKILL.md',
    scope: 'global',
    source: 'terminal',
  }
  expect(await (await call('GET', '/skills')).json()).toEqual([skill])
  expect(await (await call('GET', '/skills/read?name=plots')).json()).toEqual({ ...skill, content: 'Use it.', resources: ['lib/draw.py'] })
  expect(await refused(await call('GET', '/skills/read?name=deep'))).toEqual([404, expect.any(String)])
  expect(await containerOf(account)).toMatchObject({ generation: 0 })
  expect(await (await call('GET', '/skills', { user: 'bob' })).json()).toEqual([])
})
