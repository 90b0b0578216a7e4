import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { after, before, it } from 'node:test'
import { SandboxClient, SandboxServiceError } from '@n8n/sandbox-client'

const { CELLBLOCK_URL: url, CELLBLOCK_API_KEY: apiKey } = process.env
if (!url || !apiKey) throw new Error('Set CELLBLOCK_URL and CELLBLOCK_API_KEY, or run this with "npm run test:clients".')
const client = new SandboxClient({ baseUrl: `${url}/n8n`, apiKey })

/** One sandbox for all tests: each start takes seconds. */
const id = randomUUID()
before(() => client.createSandbox({ id }))
after(() => client.deleteSandbox(id))

const isStatus = (status) => (error) => error instanceof SandboxServiceError && error.status === status

it('finds the sandbox of a UUID again', async () => {
  assert.equal((await client.createSandbox({ id })).id, id)
  assert.equal((await client.getSandbox(id)).id, id)
  const other = await client.createSandbox()
  assert.notEqual(other.id, id)
  await client.deleteSandbox(other.id)
  await assert.rejects(client.getSandbox(other.id), isStatus(404))
})

it('runs a command with live output, variables, a folder, its exit code and a time limit', async () => {
  const chunks = []
  const onStdout = (data) => chunks.push([Date.now(), data])
  const result = await client.exec(id, {
    command: 'echo one; sleep 1; echo $A; pwd; echo ~/; echo err >&2; exit 3',
    env: { A: 'b' },
    onStdout,
  })
  assert.deepEqual(
    { ...result, executionTimeMs: 0 },
    {
      exitCode: 3,
      stdout: 'one\nb\n/home/user\n/home/user/\n',
      stderr: 'err\n',
      executionTimeMs: 0,
      timedOut: false,
      killed: false,
      success: false,
    },
  )
  assert.ok(chunks.at(-1)[0] - chunks[0][0] > 500, 'the output came at once')
  assert.equal((await client.exec(id, { command: 'pwd; echo $((6 * 7))', workdir: '/tmp' })).stdout, '/tmp\n42\n')
  const slow = await client.exec(id, { command: 'sleep 30', timeoutMs: 1_000 })
  assert.deepEqual([slow.timedOut, slow.killed, slow.success], [true, true, false])
})

it('resumes when the connection is cut in the middle of the output', async () => {
  let cuts = 0
  const proxy = createServer((incoming, answer) => {
    const onwards = request(url + incoming.url, { method: incoming.method, headers: incoming.headers }, (response) => {
      answer.writeHead(response.statusCode, response.headers)
      response.on('data', (chunk) => {
        answer.write(chunk)
        if (cuts < 3 && chunk.includes('stdout')) (cuts++, answer.destroy())
      })
      response.on('end', () => answer.end())
      answer.on('close', () => response.destroy())
    })
    onwards.on('error', () => answer.destroy())
    incoming.pipe(onwards)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const cut = new SandboxClient({ baseUrl: `http://127.0.0.1:${proxy.address().port}/n8n`, apiKey })
  const command = 'echo run >> runs; for i in 1 2 3 4 5 6; do echo $i; sleep 0.4; done'
  const result = await cut.exec(id, { command })
  proxy.close()
  assert.equal(cuts, 3)
  assert.equal(result.stdout, '1\n2\n3\n4\n5\n6\n')
  assert.equal((await client.exec(id, { command: 'wc -l < runs' })).stdout.trim(), '1')
})

it('cancels a command', async () => {
  const abort = new AbortController()
  const command = 'echo started; for i in $(seq 100); do echo $i >> beats; sleep 0.1; done'
  const running = client.exec(id, { command, abortSignal: abort.signal, onStdout: () => abort.abort() })
  await assert.rejects(running)
  // It is stopped when the file does not grow any more before its end.
  const count = '$(wc -l < beats)'
  const check = `for i in $(seq 50); do a=${count}; sleep 0.3; [ "$a" = "${count}" ] && break; done; [ "${count}" -lt 90 ] && echo stopped`
  assert.equal((await client.exec(id, { command: check })).stdout, 'stopped\n')
})
