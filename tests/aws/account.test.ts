import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Execution } from '../../services/core/execution.ts'
import type { Sandbox } from '../../services/core/sandbox.ts'
import { executionsSuite } from '../e2e/executions.ts'
import { tamper } from '../support/link-mutations.ts'
import type { NativeClient } from '../support/native-client.ts'
import { upgradeCellSeconds } from './config.ts'
import { openAccount, type Account } from './support/emulated-account.ts'
import { examine } from './support/examine.ts'

const run = promisify(execFile)
const QUICKSTART = join(import.meta.dirname, '../../examples/quickstart/main.ts')
const PNG = '89504e470d0a1a0a'

let account: Account
let acme: { readonly apiKey: string; readonly native: NativeClient }
let session: string
beforeAll(async () => {
  account = await openAccount(inject('sandboxImage'))
  await account.deploy({ warm: 0 })
  acme = await account.createTenant('acme')
  session = await acme.native.createContainer('session')
}, 300_000)
afterAll(() => account.stop(), 60_000)

const sandboxes = async (): Promise<readonly Sandbox[]> => account.table().sandboxes.all()
const sandboxOf = async (containerId: string): Promise<Sandbox> => {
  const found = (await sandboxes()).find(({ claimedBy }) => claimedBy?.containerId === containerId)
  if (found === undefined) throw new Error(`No sandbox holds ${containerId}`)
  return found
}
/** The engine's container behind a sandbox: the task has its address. */
async function engineContainer({ address }: Sandbox): Promise<string> {
  for (const id of await account.ministack.tasks()) {
    const { stdout: ip } = await run('docker', ['inspect', '--format', '{{.NetworkSettings.IPAddress}}', id])
    if (address?.kind === 'tcp' && ip.trim() === address.host) return id
  }
  throw new Error('No container has the address of the sandbox')
}
/** Sandboxes of the pool that wait. */
const warm = async (): Promise<readonly Sandbox[]> =>
  (await account.table().sandboxes.ready('1g', 10)).filter(({ readyAt }) => readyAt !== null)
async function rowOf(executionId: string): Promise<Execution> {
  const [tenant] = await account.table().tenants.list()
  const row = await account.table().executions.get(tenant?.id ?? '', executionId)
  if (row === null) throw new Error(`There is no execution ${executionId}`)
  return row
}
const isRunning = (executionId: string) => expect.poll(async () => (await rowOf(executionId)).status).toBe('running')

describe('a deployed service with nothing warm', () => {
  it('answers the quickstart: distribution, API, queues, chat, run, place, a real task, links', { timeout: 180_000 }, async () => {
    const out = await mkdtemp(join(tmpdir(), 'cellblock-quickstart-'))
    const env = {
      ...process.env,
      CELLBLOCK_URL: account.url(),
      CELLBLOCK_API_KEY: acme.apiKey,
      CELLBLOCK_MODEL: 'demo',
      QUICKSTART_OUT: out,
    }
    try {
      const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', QUICKSTART], { env })
      expect(stdout).toContain('Best month: 2024-01 with 10,255 euros of 80,164')
      expect((await readdir(out)).toSorted()).toEqual(['notebook.ipynb', 'revenue.png'])
      expect((await readFile(join(out, 'revenue.png'))).toString('hex', 0, 8)).toBe(PNG)
      // The link in the answer names the distribution, and leads to signed bytes.
      const link = /https:\/\/[a-z0-9]+\.cloudfront\.net\/d\/[\w-]+/.exec(stdout)?.[0] ?? 'none'
      expect(Buffer.from(await (await account.open(link)).arrayBuffer()).toString('hex', 0, 8)).toBe(PNG)
    } finally {
      await rm(out, { recursive: true, force: true })
    }
    const [started] = await sandboxes()
    expect(started).toMatchObject({ state: 'claimed', address: { kind: 'tcp' }, answeredAt: expect.any(Number) })
  })

  it('streams a response to the openai client', { timeout: 120_000 }, async () => {
    const client = new OpenAI({ baseURL: `${account.url()}/v1`, apiKey: acme.apiKey })
    const input = 'Compute.\n\n```python\nprint(6 * 7)\n```'
    const types: string[] = []
    let text = ''
    for await (const event of await client.responses.create({
      model: 'demo',
      input,
      stream: true,
      tools: [{ type: 'code_interpreter', container: session }],
    })) {
      types.push(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    expect(types.at(0)).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')
    expect(text).toContain('42')
  })

  it('keeps variables between calls, in the same task', { timeout: 60_000 }, async () => {
    await acme.native.run(session, 'kept = "from before"')
    const before = await sandboxOf(session)
    expect((await acme.native.run(session, 'print(kept)')).stdout).toBe('from before\n')
    expect((await sandboxOf(session)).id).toBe(before.id)
  })

  it('signs links that serve nothing else and expire', { timeout: 60_000 }, async () => {
    const { objects } = account
    const key = 'tenants/tnt_1/cntr_1/files/abc'
    await objects().put(key, Buffer.from('mine to read'), { contentType: 'text/plain' })
    await objects().put('tenants/tnt_2/cntr_2/files/abc', Buffer.from("another's secret"), { contentType: 'text/plain' })
    const link = (expiresSeconds: number) =>
      objects().presignGet(key, { publicUrl: account.url(), filename: 'report.csv', contentType: 'text/csv', expiresSeconds })
    const signed = await link(300)
    expect(await (await fetch(signed)).text()).toBe('mine to read')
    // Without a signature of a known kind a request is anonymous, and the emulator's buckets are open to those. The local S3 refuses them too.
    const attempts = tamper(signed).filter(({ name }) => !/(without|empty|second) X-Amz-Signature|X-Amz-Algorithm/.test(name))
    expect(attempts.length).toBeGreaterThanOrEqual(60)
    const served: string[] = []
    for (const { name, url, method, headers } of attempts) {
      const answer = await fetch(url, { method, headers, ...(method === 'PUT' || method === 'POST' ? { body: 'x' } : {}) })
      if (answer.ok || /mine|secret/.test(await answer.text())) served.push(name)
    }
    expect(served).toEqual([])
    const short = await link(2)
    expect((await fetch(short)).status).toBe(200)
    await expect.poll(async () => (await fetch(short)).status, { timeout: 10_000 }).toBe(403)
  })

  it('shows nobody the way around the distribution', async () => {
    const answer = await fetch(`${account.sdk.endpoint}/v1/models`, { headers: { authorization: `Bearer ${acme.apiKey}` } })
    expect(answer.ok).toBe(false)
  })

  it('is examined by the doctor, as tasks and as a tenant', { timeout: 240_000 }, async () => {
    const found = await examine(account, inject('sandboxImage'), acme.apiKey)
    expect(found).toMatchObject({
      Stacks: expect.stringMatching(/^ok/),
      Endpoints: expect.stringMatching(/^ok/),
      Image: expect.stringMatching(/^ok/),
      Sandbox: expect.stringMatching(/^ok: tier 1g was up/),
      Worker: expect.stringMatching(/^ok: \d+ programs tried/),
      // The emulator gives keys to every task, as no Fargate task without a role has them: the probe ran, and notices.
      Credentials: expect.stringMatching(/^fail: keys of AWS were to be had/),
    })
  })
})

/** Runs until there is that file, which somebody from outside makes, and shows that it never stopped meanwhile. */
const untilThereIs = (file: string): string => `import os, time
n = 0
while not os.path.exists("${file}"):
    print(n, flush=True)
    n += 1
    time.sleep(1)
print(kept)`

describe('an upgrade in place, over live data', () => {
  const NEXT = { warm: 1, imageTag: 'next' }
  let oldImage: string
  let isBack = false

  let cell: { readonly id: string; readonly sandbox: Sandbox; readonly end: string; readonly began: number; readonly fence: number }

  it('is deployed while a cell runs', { timeout: 180_000 }, async () => {
    const { native } = acme
    await native.run(session, 'kept = "from before"')
    const end = `/tmp/end-${Date.now()}`
    const { id } = await native.run(session, { code: untilThereIs(end), timeout_seconds: 900 }, 0)
    await isRunning(id)
    const began = Date.now()
    const sandbox = await sandboxOf(session)
    oldImage = sandbox.image
    await account.deploy(NEXT)
    cell = { id, sandbox, end, began, fence: (await rowOf(id)).fence }
    expect((await rowOf(id)).status).toBe('running')
  })

  // The suite of the local server, on the version that has just been deployed, while the cell goes on.
  executionsSuite(() => ({ native: acme.native, open: account.open }))

  it(
    'leaves that cell alone, which outlives the whole deployment: the next version reads on and ends it',
    { timeout: 420_000 },
    async () => {
      const { id, sandbox, end, began, fence } = cell
      // Every function that was there before has let go of it.
      await expect.poll(async () => (await rowOf(id)).fence, { timeout: 150_000, interval: 500 }).toBeGreaterThan(fence)
      const leastMs = upgradeCellSeconds * 1000
      await expect.poll(() => Date.now() - began, { timeout: leastMs + 10_000, interval: 1_000 }).toBeGreaterThanOrEqual(leastMs)
      await run('docker', ['exec', await engineContainer(sandbox), 'touch', end])
      const ended = await acme.native.ended(id)
      const lines = ended.stdout.trim().split('\n')
      expect([ended.status, lines.at(-1)]).toEqual(['succeeded', 'from before'])
      expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).map((_, index) => String(index)))
      expect((await sandboxOf(session)).id).toBe(sandbox.id)
      console.log(`The cell ran ${Math.round((Date.now() - began) / 1000)} s, through the deployment of the next version.`)
    },
  )

  it('fills the pool with the new image and claims that', { timeout: 180_000 }, async () => {
    await expect.poll(async () => (await warm()).map(({ image }) => image), { timeout: 120_000, interval: 1_000 }).toHaveLength(1)
    const [pooled] = await warm()
    expect(pooled?.image).toMatch(/:next$/)
    const fresh = await acme.native.createContainer('warm')
    expect((await acme.native.run(fresh, 'print("claimed")')).stdout).toBe('claimed\n')
    expect((await sandboxOf(fresh)).id).toBe(pooled?.id)
  })

  it('starts a sandbox for whoever finds the pool empty', { timeout: 120_000 }, async () => {
    const takers = await Promise.all(['one', 'two', 'three'].map((name) => acme.native.createContainer(name)))
    const ran = await Promise.all(takers.map((container) => acme.native.run(container, 'print("mine")')))
    expect(ran.map(({ stdout }) => stdout)).toEqual(['mine\n', 'mine\n', 'mine\n'])
    expect(new Set((await Promise.all(takers.map(sandboxOf))).map(({ id }) => id)).size).toBe(3)
  })

  it('goes back as well: what the newer version has warm is never claimed, and drained', { timeout: 240_000 }, async () => {
    const { native } = acme
    if (isBack) await account.deploy(NEXT)
    await expect.poll(async () => (await warm()).map(({ image }) => image), { timeout: 120_000, interval: 1_000 }).toHaveLength(1)
    const [pooled] = await warm()
    expect(pooled?.image).toMatch(/:next$/)
    const task = await engineContainer(pooled as Sandbox)
    await account.deploy({ warm: 1 })
    isBack = true
    const fresh = await native.createContainer('back')
    expect((await native.run(fresh, 'print("back")')).stdout).toBe('back\n')
    expect((await sandboxOf(fresh)).image).toBe(oldImage)
    expect((await account.table().sandboxes.get(pooled?.id ?? ''))?.claimedBy ?? null).toBeNull()
    const isLeft = async (): Promise<boolean> => {
      await account.reconcile()
      return (await account.ministack.tasks()).includes(task)
    }
    await expect.poll(isLeft, { timeout: 120_000, interval: 2_000 }).toBe(false)
    expect((await native.run(session, 'print(kept)')).stdout).toBe('from before\n')
  })
})

describe('a task that dies', () => {
  it('ends its execution with a reason, and the next call works', { timeout: 240_000 }, async () => {
    const { native } = acme
    const running = await native.run(session, 'import time\nprint("begun", flush=True)\ntime.sleep(120)', 0)
    await isRunning(running.id)
    await run('docker', ['kill', await engineContainer(await sandboxOf(session))])
    const ended = await native.ended(running.id)
    expect([ended.status, ended.reason]).toEqual(['failed', 'sandbox_lost'])
    const next = await native.run(session, 'print("again")')
    expect(next.stdout).toBe('again\n')
    expect(next.lost).toEqual([expect.objectContaining({ what: 'variables' })])
  })
})

describe('removing it', () => {
  it(
    'leaves the data and nothing that runs, can be taken back, and then, when told so, leaves nothing at all',
    { timeout: 400_000 },
    async () => {
      await account.destroy({ removesData: false })
      expect(await account.ministack.tasks()).toEqual([])
      expect((await account.table().tenants.list()).map(({ name }) => name)).toEqual(['acme'])
      expect(await leftInAccount(account)).toEqual(['Cellblock-emulated-Data'])

      await account.deploy({ warm: 0 })
      expect((await acme.native.run(session, 'print("back")')).stdout).toBe('back\n')
      await account.destroy({ removesData: false })
      await account.destroy({ removesData: true })
      expect(await leftInAccount(account)).toEqual([])
      await expect(account.table().tenants.list()).rejects.toThrow()
    },
  )
})

/** Stacks that are not the CDK's own. */
async function leftInAccount({ sdk }: Account): Promise<string[]> {
  const { CloudFormationClient, paginateDescribeStacks } = await import('@aws-sdk/client-cloudformation')
  const names: string[] = []
  for await (const page of paginateDescribeStacks({ client: new CloudFormationClient(sdk) }, {}))
    for (const { StackName = '', StackStatus } of page.Stacks ?? [])
      if (StackName !== 'CDKToolkit' && StackStatus !== 'DELETE_COMPLETE') names.push(StackName)
  return names
}
