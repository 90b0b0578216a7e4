import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import type { SupervisorEvent } from '../../../services/ports/supervisor.ts'
import { createUnixLink } from '../../../services/adapters/link/unix-link.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { doneEvent, readText, sendJson, sendLines, startStubSupervisor } from '../../support/stub-supervisor.ts'

const never = new AbortController().signal
const code = { cells: [{ code: 'print(1)' }], onError: 'stop', storeHistory: true, timeoutMs: 5_000 } as const
const started = { seq: 0, t: 1, type: 'started', kernel_generation: 1 }
const printed = { seq: 1, t: 1, type: 'stream', index: 0, name: 'stdout', text: '1\n' }

const collect = async (events: AsyncIterable<SupervisorEvent>): Promise<SupervisorEvent[]> => {
  const all: SupervisorEvent[] = []
  for await (const event of events) all.push(event)
  return all
}
const client = () => createSupervisorClient({ link: createUnixLink() })

describe('the supervisor client', () => {
  it('runs an execution in one signed request after the identity check', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    let body = ''
    stub.on('PUT /executions/exec_1', (request, response) => {
      void readText(request).then((text) => {
        body = text
        sendLines(started, printed, doneEvent(2))(request, response)
      })
    })
    const supervisor = client()
    expect(
      (await collect(await supervisor.execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never))).map(
        (event) => event.type,
      ),
    ).toEqual(['started', 'stream', 'done'])
    expect(JSON.parse(body)).toMatchObject({
      v: 1,
      cells: [{ code: 'print(1)' }],
      on_error: 'stop',
      store_history: true,
      timeout_ms: 5_000,
    })
    await collect(await supervisor.execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never))
    expect(stub.seen).toEqual(['GET /health', 'PUT /executions/exec_1?after=-1', 'PUT /executions/exec_1?after=-1'])
  })

  it('reuses its connection after a stream that was read up to "done"', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    stub.on('PUT /executions/exec_1', sendLines(started, doneEvent(1)))
    const supervisor = client()
    for (let i = 0; i < 20; i++) {
      for await (const event of await supervisor.execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never))
        if (event.type === 'done') break
    }
    expect(stub.connections()).toBeLessThanOrEqual(2)
  })

  it('sends nothing to another sandbox at the same address', async () => {
    await using stub = await startStubSupervisor('sbx_other')
    const session = { ...stub.session, sandboxId: 'sbx_mine' }
    await expect(client().execute(session, { executionId: 'exec_1', request: code, after: -1 }, never)).rejects.toMatchObject({
      name: 'SupervisorError',
      code: 'wrong_sandbox',
    })
    await expect(client().putFile(session, { path: 'a.txt', bytes: 1, body: oneByte() }, never)).rejects.toMatchObject({
      code: 'wrong_sandbox',
    })
    expect(new Set(stub.seen)).toEqual(new Set(['GET /health']))
  })

  it('checks the identity again after a broken connection, so a new sandbox at the address receives nothing', async () => {
    const stub = await startStubSupervisor('sbx_mine')
    stub.on('PUT /executions/exec_1', (request) => void request.socket.destroy())
    const supervisor = client()
    await expect(supervisor.execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never)).rejects.toMatchObject({
      name: 'LinkError',
      kind: 'broken',
    })
    stub.identity.sandbox_id = 'sbx_other'
    await expect(supervisor.execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never)).rejects.toMatchObject({
      code: 'wrong_sandbox',
    })
    expect(stub.seen).toEqual(['GET /health', 'PUT /executions/exec_1?after=-1', 'GET /health'])
    await stub[Symbol.asyncDispose]()
  })

  it('trusts a recent identity check by another worker as much as its own', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    stub.on('PUT /executions/exec_1', sendLines(started, doneEvent(1)))
    const supervisor = client()
    await supervisor.health(stub.session.address, 0, never)
    await collect(await supervisor.execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never))
    expect(stub.seen).toEqual(['GET /health', 'PUT /executions/exec_1?after=-1'])
    const other = client()
    await other.health(stub.session.address, 0, never)
    await expect(
      other.execute({ ...stub.session, sandboxId: 'sbx_mine' }, { executionId: 'exec_1', request: code, after: -1 }, never),
    ).rejects.toMatchObject({
      code: 'wrong_sandbox',
    })
  })

  it('refuses a sandbox of another protocol, and one that was restarted', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    stub.on('GET /files', (_request, response) => sendJson(response, 200, { files: [], skipped: [] }))
    let now = 0
    const supervisor = createSupervisorClient({ link: createUnixLink(), clock: { now: () => now } })
    expect(await supervisor.listFiles(stub.session)).toEqual({ files: [], skipped: [] })
    now += 3_600_000
    stub.identity.boot_nonce = 'boot-2'
    await expect(supervisor.listFiles(stub.session)).rejects.toThrow(/was restarted/)
    stub.identity.v = 2
    await expect(client().listFiles(stub.session)).rejects.toThrow(/protocol 2/)
  })

  it('checks the identity again after the earlier check has expired', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    stub.on('GET /files', (_request, response) => sendJson(response, 200, { files: [], skipped: [] }))
    let now = 0
    const supervisor = createSupervisorClient({ link: createUnixLink(), clock: { now: () => now } })
    await supervisor.listFiles(stub.session)
    now += 500_000
    await supervisor.listFiles(stub.session)
    now += 500_000
    await supervisor.listFiles(stub.session)
    now += 700_000
    await supervisor.listFiles(stub.session)
    expect(stub.seen.filter((line) => line === 'GET /health')).toHaveLength(2)
  })

  it('is refused with another key', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    const session = { ...stub.session, privateKey: anyPrivateKey() }
    await expect(client().listFiles(session)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it.each([
    [409, 'conflict'],
    [413, 'too_large'],
    [507, 'disk_full'],
    [503, 'unavailable'],
    [500, 'internal'],
    [400, 'bad_request'],
    [418, 'protocol'],
  ])('maps HTTP %i to %s', async (status, expected) => {
    await using stub = await startStubSupervisor('sbx_a')
    stub.on('PUT /executions/exec_1', (_request, response) =>
      sendJson(response, status, { error: { code: 'whatever', message: 'Because.' } }),
    )
    await expect(client().execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never)).rejects.toMatchObject({
      name: 'SupervisorError',
      code: expected,
      message: expect.stringContaining('Because.'),
    })
  })

  it('reports broken when the stream ends before "done"', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    stub.on('PUT /executions/exec_1', sendLines(started, printed))
    await expect(
      collect(await client().execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never)),
    ).rejects.toMatchObject({
      name: 'LinkError',
      kind: 'broken',
    })
  })

  it.each([
    ['a number twice', [started, { ...printed, seq: 0 }]],
    ['a number before the one asked for', [{ ...started, seq: -1 }]],
    ['an unknown event', [{ ...started, type: 'root_shell' }]],
    ['no JSON', ['<html>']],
    ['a bomb of brackets', ['['.repeat(200_000)]],
    ['a line without end', [`{"seq":0,"pad":"${'x'.repeat(33 * 1024 * 1024)}"`]],
  ])('refuses a stream with %s', async (_what, lines) => {
    await using stub = await startStubSupervisor('sbx_a')
    stub.on('PUT /executions/exec_1', sendLines(...lines, doneEvent(9)))
    await expect(
      collect(await client().execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never)),
    ).rejects.toMatchObject({
      name: 'SupervisorError',
      code: 'protocol',
    })
  })

  it('accepts a display of 20 MB', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    const png = 'A'.repeat(20 * 1024 * 1024)
    stub.on(
      'PUT /executions/exec_1',
      sendLines(
        { seq: 0, t: 1, type: 'display', index: 0, output_type: 'display_data', data: { 'image/png': png }, metadata: {} },
        doneEvent(1),
      ),
    )
    const [display] = await collect(await client().execute(stub.session, { executionId: 'exec_1', request: code, after: -1 }, never))
    expect(display).toMatchObject({ type: 'display', data: { 'image/png': png }, executionCount: null, displayId: null })
  })

  it('sends an interrupt', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    let body = ''
    stub.on(
      'POST /executions/exec_1/interrupt',
      (request, response) =>
        void readText(request).then((text) => {
          body = text
          response.writeHead(202).end()
        }),
    )
    await client().interrupt(stub.session, 'exec_1', 2_000)
    expect(JSON.parse(body)).toEqual({ kill_after_ms: 2_000 })
  })

  it('puts, gets and deletes files under percent-encoded paths', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    const stored = new Map<string, string>()
    const route = '/files/a%20b/c%23%3F.txt'
    stub.on(
      `PUT ${route}`,
      (request, response) =>
        void readText(request).then((text) => {
          stored.set('it', text)
          sendJson(response, 200, { path: 'a b/c#?.txt', bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') })
        }),
    )
    stub.on(`GET ${route}`, (_request, response) => void response.writeHead(200, { 'content-length': '1' }).end(stored.get('it')))
    stub.on(`DELETE ${route}`, (_request, response) => {
      stored.delete('it')
      response.writeHead(204).end()
    })
    const supervisor = client()
    const { sha256 } = await supervisor.putFile(stub.session, { path: 'a b/c#?.txt', bytes: 1, body: oneByte() }, never)
    expect(sha256).toBe(createHash('sha256').update('x').digest('hex'))
    const file = await supervisor.getFile(stub.session, 'a b/c#?.txt', never)
    expect([file?.bytes, file && (await readText(file.body))]).toEqual([1, 'x'])
    await supervisor.deleteFile(stub.session, 'a b/c#?.txt')
    expect([stored.size, await supervisor.getFile(stub.session, 'gone.txt', never)]).toEqual([0, null])
  })

  it('reports an upload that is refused during its body', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    stub.on('PUT /files/big', (_request, response) =>
      sendJson(response, 507, { error: { code: 'disk_full', message: 'The disk is full.' } }),
    )
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 4_096; i++) yield Buffer.alloc(64 * 1024)
    }
    await expect(client().putFile(stub.session, { path: 'big', bytes: 4_096 * 64 * 1024, body: endless() }, never)).rejects.toMatchObject({
      code: 'disk_full',
    })
  })

  it('saves and restores a snapshot', async () => {
    await using stub = await startStubSupervisor('sbx_a')
    const targets: (string | undefined)[] = []
    stub.on('POST /snapshot', (request, response) => {
      targets.push(request.url)
      response.writeHead(200, { trailer: 'Cellblock-Usage' })
      response.write('frozen')
      response.addTrailers({ 'Cellblock-Usage': '{"run_ms":7,"cpu_ms":6.5}' })
      response.end()
    })
    let length: string | undefined
    stub.on('POST /restore', (request, response) => {
      length = request.headers['content-length']
      targets.push(request.url)
      void readText(request).then((text) =>
        sendJson(response, 200, { restored: text.length, lost: [{ what: 'x', reason: 'a generator' }], run_ms: 5, cpu_ms: 4 }),
      )
    })
    const supervisor = client()
    const snapshot = await supervisor.snapshot(stub.session, { timeoutMs: 1_000_000 }, never)
    expect(
      await supervisor.restore(
        stub.session,
        { snapshot: { bytes: 6, body: snapshot.body }, budget: { timeoutMs: 2_000.5, cpuMs: 1_000 } },
        never,
      ),
    ).toEqual({
      restored: 6,
      lost: [{ what: 'x', reason: 'a generator' }],
      usage: { runMs: 5, cpuMs: 4 },
    })
    expect(snapshot.usage()).toEqual({ runMs: 7, cpuMs: 6.5 })
    expect(targets).toEqual(['/snapshot?timeout_ms=300000', '/restore?unused=1&timeout_ms=2000&cpu_ms=1000'])
    expect(length).toBe('6')
  })

  it('reports refused without a listener', async () => {
    const session = { sandboxId: 'sbx_a', privateKey: anyPrivateKey(), address: { kind: 'unix', socketPath: '/nowhere/s.sock' } } as const
    await expect(client().execute(session, { executionId: 'exec_1', request: code, after: -1 }, never)).rejects.toMatchObject({
      name: 'LinkError',
      kind: 'refused',
    })
    await expect(client().health(session.address, 10, never)).rejects.toMatchObject({ kind: 'refused' })
  })
})

const anyPrivateKey = (): string => newSandbox({ memoryTier: '1g', image: 'any', claimedBy: null }, 0).privateKey

async function* oneByte(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('x')
}
