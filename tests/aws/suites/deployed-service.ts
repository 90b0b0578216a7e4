import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { describe, expect, inject, it } from 'vitest'
import { tamper } from '../../support/link-mutations.ts'
import { examine } from '../support/run-doctor.ts'
import type { DeploymentFixture } from '../support/deployment-fixture.ts'

const run = promisify(execFile)
const QUICKSTART = join(import.meta.dirname, '../../../examples/quickstart/main.ts')
const PNG = '89504e470d0a1a0a'

/** What a client sees of the service as it was deployed first, with nothing warm. */
export function deployedServiceSuite(fixture: () => DeploymentFixture): void {
  describe('a deployed service with nothing warm', () => {
    it('answers the quickstart: distribution, API, queues, chat, run, place, a real task, links', { timeout: 180_000 }, async () => {
      const out = await mkdtemp(join(tmpdir(), 'cellblock-quickstart-'))
      const env = {
        ...process.env,
        CELLBLOCK_URL: fixture().account.url(),
        CELLBLOCK_API_KEY: fixture().acme.apiKey,
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
        expect(Buffer.from(await (await fixture().account.open(link)).arrayBuffer()).toString('hex', 0, 8)).toBe(PNG)
      } finally {
        await rm(out, { recursive: true, force: true })
      }
      const [started] = await fixture().account.table().sandboxes.all()
      expect(started).toMatchObject({ state: 'claimed', address: { kind: 'tcp' }, answeredAt: expect.any(Number) })
    })

    it('created the first admin key, which lists the tenants', { timeout: 60_000 }, async () => {
      const { account, adminKey } = fixture()
      const list = await fetch(`${account.url()}/v1/admin/tenants`, { headers: { authorization: `Bearer ${adminKey}` } })
      const { data } = (await list.json()) as { data: { name: string }[] }
      expect([list.status, data.map(({ name }) => name).toSorted()]).toEqual([200, ['acme', 'operator']])
    })

    it('serves the web page, whose files the deployment uploaded', { timeout: 60_000 }, async () => {
      const url = fixture().account.url()
      const page = await fetch(`${url}/`)
      expect([page.status, page.headers.get('content-security-policy')]).toEqual([200, expect.stringContaining("default-src 'none'")])
      const script = /src="(\/assets\/[\w.-]+\.js)"/.exec(await page.text())?.[1] ?? 'none'
      const asset = await fetch(`${url}${script}`)
      expect([asset.status, asset.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    })

    it('streams a response to the openai client', { timeout: 120_000 }, async () => {
      const client = new OpenAI({ baseURL: `${fixture().account.url()}/v1`, apiKey: fixture().acme.apiKey })
      const input = 'Compute.\n\n```python\nprint(6 * 7)\n```'
      const types: string[] = []
      let text = ''
      for await (const event of await client.responses.create({
        model: 'demo',
        input,
        stream: true,
        tools: [{ type: 'code_interpreter', container: fixture().session }],
      })) {
        types.push(event.type)
        if (event.type === 'response.output_text.delta') text += event.delta
      }
      expect(types.at(0)).toBe('response.created')
      expect(types.at(-1)).toBe('response.completed')
      expect(text).toContain('42')
    })

    it('saves the variables of a Spot task that AWS takes back, within its two minutes', { timeout: 180_000 }, async () => {
      const { account, acme } = fixture()
      const container = await acme.native.createContainer('spot')
      await acme.native.run(container, 'spot = 41')
      const sandbox = await fixture().sandboxOf(container)
      const engine = await fixture().engineContainer(sandbox)
      await account.interrupt(sandbox.platformId ?? 'none', engine)
      const row = () => account.table().containers.get(acme.id, container)
      await expect.poll(async () => (await row())?.sandboxId, { timeout: 60_000 }).toBeNull()
      expect(await row()).toMatchObject({ stateLost: null, snapshot: { isRestored: false } })
      await expect.poll(() => account.ministack.tasks(), { timeout: 60_000 }).not.toContain(engine)
      expect((await acme.native.run(container, 'print(spot + 1)')).stdout).toBe('42\n')
    })

    it('keeps variables between calls, in the same task', { timeout: 60_000 }, async () => {
      await fixture().acme.native.run(fixture().session, 'kept = "from before"')
      const before = await fixture().sandboxOf(fixture().session)
      expect((await fixture().acme.native.run(fixture().session, 'print(kept)')).stdout).toBe('from before\n')
      expect((await fixture().sandboxOf(fixture().session)).id).toBe(before.id)
    })

    it('signs links that serve nothing else and expire', { timeout: 60_000 }, async () => {
      const { objects } = fixture().account
      const key = 'tenants/tnt_1/cntr_1/files/abc'
      await objects().put(key, Buffer.from('mine to read'), { contentType: 'text/plain' })
      await objects().put('tenants/tnt_2/cntr_2/files/abc', Buffer.from("another's secret"), { contentType: 'text/plain' })
      const link = (expiresSeconds: number) =>
        objects().presignGet(key, { publicUrl: fixture().account.url(), filename: 'report.csv', contentType: 'text/csv', expiresSeconds })
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

    it('refuses requests that bypass the distribution', async () => {
      const answer = await fetch(`${fixture().account.sdk.endpoint}/v1/models`, {
        headers: { authorization: `Bearer ${fixture().acme.apiKey}` },
      })
      expect(answer.ok).toBe(false)
    })

    it('writes one trace id in the log of every service, from the distribution to the sandbox and back', { timeout: 60_000 }, async () => {
      const { account, acme, session } = fixture()
      const traceId = randomBytes(16).toString('hex')
      const tools = [{ type: 'code_interpreter', container: session }]
      const turn = { model: 'demo', input: '```python\nprint(6 * 7)\n```', tools }
      const answer = await acme.native.call('POST', '/v1/responses', turn, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` })
      expect(await answer.json()).toMatchObject({ status: 'completed' })
      expect(answer.headers.get('traceresponse')).toContain(traceId)
      const events = async (name: string) => (await account.functionLog(name)).filter((line) => line['trace_id'] === traceId)
      await expect.poll(async () => (await events('api')).map(({ event }) => event)).toContain('http.request')
      await expect.poll(async () => (await events('chat')).map(({ event }) => event)).toContain('turn_step')
      await expect.poll(() => events('run')).toContainEqual(expect.objectContaining({ event: 'execution', sandbox_trace_id: traceId }))
    })

    it('passes the checks of the doctor for tasks and for a tenant', { timeout: 240_000 }, async () => {
      const found = await examine(fixture().account, inject('sandboxImage'), fixture().acme.apiKey)
      expect(found).toMatchObject({
        Stacks: expect.stringMatching(/^ok/),
        Endpoints: expect.stringMatching(/^ok/),
        Image: expect.stringMatching(/^ok/),
        Sandbox: expect.stringMatching(/^ok: tier 1g was up/),
        'Warm pool': 'ok: no pool is configured',
        Worker: expect.stringMatching(/^ok: \d+ programs tried/),
        // The emulator delivers streamed answers as one text, which the check finds.
        Streaming: expect.stringMatching(/^fail: .* buffers answers/),
        // The emulator gives every task credentials, which a Fargate task without a role does not have: the probe reports them.
        Credentials: expect.stringMatching(/^fail: AWS credentials were available/),
      })
    })
  })
}
