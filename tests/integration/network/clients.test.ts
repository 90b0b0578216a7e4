import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { expandPolicy } from '../../../services/model/network/policy.ts'
import { ensureNetworkClientsImage } from '../../support/network-clients-image.ts'
import { startMirror, type Mirror } from '../../support/mirror.ts'
import { createGitMirror, createNpmMirror, createPyPiMirror } from '../../support/package-mirrors.ts'
import { startNetwork, type TestNetwork } from './start-network.ts'

const DATA = 'data.example.com'
const REFUSED = 'denied.example.com'
const SENTENCE = `This container may not reach ${REFUSED}.`

let folder: string
let mirrors: readonly Mirror[]
let network: TestNetwork

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-mirrors-'))
  const pypi = await startMirror(['pypi.org', 'files.pythonhosted.org'], await createPyPiMirror(folder, 'tiny_answer'))
  const npm = await startMirror(['registry.npmjs.org'], await createNpmMirror(folder, 'tiny-answer'))
  const git = await startMirror(['github.com'], await createGitMirror(folder))
  const data = await startMirror([DATA], ({ url }, response) => response.end(url === '/table.csv' ? 'a,b\n1,2\n3,4\n' : `answer ${url}`))
  mirrors = [pypi, npm, git, data]
  const at = ({ port }: Mirror) => ({ address: '127.0.0.1', port })
  network = await startNetwork(
    { rules: expandPolicy({ allow: [{ host: DATA, methods: ['GET'] }], presets: ['pypi', 'npm', 'git'] }) },
    {
      ...{ 'pypi.org': at(pypi), 'files.pythonhosted.org': at(pypi), 'registry.npmjs.org': at(npm) },
      ...{ 'github.com': at(git), [DATA]: at(data) },
    },
    { image: await ensureNetworkClientsImage(inject('sandboxImage')) },
  )
})
afterAll(async () => {
  await network?.[Symbol.asyncDispose]()
  await Promise.all((mirrors ?? []).map((mirror) => mirror[Symbol.asyncDispose]()))
  await rm(folder, { recursive: true, force: true })
})

/** What an HTTP library prints for an allowed address; then how its error for a refused one reads. */
const PYTHON = {
  urllib: 'import urllib.request\nfetch = lambda url: urllib.request.urlopen(url, timeout=30).read().decode()',
  requests: 'import requests\nfetch = lambda url: requests.get(url, timeout=30).text',
  httpx: 'import httpx\nfetch = lambda url: httpx.get(url, timeout=30).text',
  aiohttp: `
import aiohttp, asyncio
async def get(url):
    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.get(url) as response:
            return await response.text()
fetch = lambda url: asyncio.run_coroutine_threadsafe(get(url), loop).result(30)
import threading
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()`,
} as const

describe.each(Object.entries(PYTHON))('%s', (_name, setup) => {
  it('reads an allowed host over HTTPS', async () => {
    const run = await network.run(`${setup}\nprint(fetch("https://${DATA}/x?y"))`)
    expect([run.stdout, run.error]).toEqual(['answer /x?y\n', undefined])
  })

  it('fails at once for another host, with the reason in the exception', async () => {
    const run = await network.run(`${setup}\nfetch("https://${REFUSED}/x")`)
    expect(run.error?.value).toContain(SENTENCE)
    expect(run.done.run_ms).toBeLessThan(10_000)
  })
})

it('pandas reads a table from an allowed host', async () => {
  const run = await network.run(`import pandas\nprint(pandas.read_csv("https://${DATA}/table.csv").b.sum())`)
  expect([run.stdout, run.error]).toEqual(['6\n', undefined])
})

it("Node's fetch reads an allowed host and fails for another one", async () => {
  const program = `const r = await fetch('https://${DATA}/n'); console.log(await r.text()); await fetch('https://${REFUSED}/').catch((e) => console.log('failed'))`
  const run = await network.run(`node --input-type=module -e ${JSON.stringify(program)}`, 'bash')
  expect(run.stdout).toBe('answer /n\nfailed\n')
})

describe('a JavaScript session that began before the policy', () => {
  const GET = `const get = (module, url) => new Promise((resolve, reject) =>
    require(module).get(url, (answer) => { let text = ''; answer.on('data', (part) => (text += part)).on('end', () => resolve(text)) }).on('error', reject))`
  const FAILS = `console.log(await fetch('https://${DATA}/').catch((error) => error.message))`
  beforeAll(async () => {
    const before = await network.sandbox.supervisor.run(`${GET}\n${FAILS}`, { language: 'javascript' })
    expect(before.stdout).toContain('This sandbox has no network')
  })
  const evaluate = async (code: string): Promise<unknown> => {
    const { stdout, error } = await network.run(`console.log(${code})`, 'javascript')
    return error?.value ?? stdout.trim()
  }

  it('reads an allowed host with fetch and with the agents of https and http', async () => {
    expect(await evaluate(`await (await fetch('https://${DATA}/f')).text()`)).toBe('answer /f')
    expect(await evaluate(`await get('https', 'https://${DATA}/s')`)).toBe('answer /s')
    expect(network.reports).toContainEqual(expect.objectContaining({ host: DATA, path: '/s', status: 200 }))
  })

  it('says which hosts it may reach when another one is refused', async () => {
    expect(await evaluate(`await fetch('https://${REFUSED}/')`)).toContain(
      'The network policy of this container refuses this host. It may reach: ',
    )
    expect(await evaluate(`await get('https', 'https://${REFUSED}/')`)).toContain(SENTENCE)
    expect(await evaluate(`await get('http', 'http://${REFUSED}/')`)).toContain(SENTENCE)
  })

  it('has no network again after the policy was removed', async () => {
    const after = await network.sandbox.supervisor.run(FAILS, { language: 'javascript' })
    expect(after.stdout).toContain('This sandbox has no network')
  })
})

it('curl reads an allowed host, and says why another one is refused', async () => {
  const run = await network.run(`curl -sS https://${DATA}/c; echo; curl -sS https://${REFUSED}/ || echo "status $?"`, 'bash')
  expect(run.stdout).toBe('answer /c\nstatus 56\n')
})

it('pip installs from the index, and the package can be imported', async () => {
  const run = await network.run('!pip install tiny-answer 2>&1 | tail -3\nimport tiny_answer\nprint(tiny_answer.ANSWER)')
  expect(run.stdout).toContain('42')
  expect(network.reports).toContainEqual(expect.objectContaining({ host: 'pypi.org', path: '/simple/tiny-answer/', status: 200 }))
})

it('pip names the reason when its index is not allowed', async () => {
  const run = await network.run(`pip install --index-url https://${REFUSED}/simple other 2>&1`, 'bash')
  expect(run.stdout).toContain(SENTENCE)
})

it('npm installs from the registry', async () => {
  const run = await network.run(
    'mkdir -p /tmp/app && cd /tmp/app && npm install tiny-answer 2>&1 && node -p "require(\'tiny-answer\')"',
    'bash',
  )
  expect(run.stdout.trim().split('\n').at(-1)).toBe('42')
})

it('git clones over HTTPS, and a push is refused', async () => {
  const push = "curl -sS -o /dev/null -w '%{http_code} %header{cellblock-network}' -d x https://github.com/acme/repo.git/git-receive-pack"
  const run = await network.run(`cd /tmp && git clone -q https://github.com/acme/repo.git && cat repo/README.md && ${push}`, 'bash')
  expect(run.stdout).toBe('cloned\n403 refused')
})
