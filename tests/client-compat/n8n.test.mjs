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
  const command = 'touch beats; echo started; for i in $(seq 100); do echo $i >> beats; sleep 0.1; done'
  const running = client.exec(id, { command, abortSignal: abort.signal, onStdout: () => abort.abort() })
  await assert.rejects(running)
  // It is stopped when the file does not grow any more before its end.
  const count = '$(wc -l < beats)'
  const check = `for i in $(seq 50); do a=${count}; sleep 0.3; [ "$a" = "${count}" ] && break; done; [ "${count}" -lt 90 ] && echo stopped`
  assert.equal((await client.exec(id, { command: check })).stdout, 'stopped\n')
})

it('writes, reads, appends, lists, copies, moves and removes files and folders', async () => {
  const dir = '/home/user/workspace'
  const text = async (path) => (await client.readFile(id, path)).toString()
  await client.mkdir(id, dir)
  await assert.rejects(client.mkdir(id, dir), isStatus(409))
  await client.mkdir(id, dir, true)
  await assert.rejects(client.mkdir(id, `${dir}/no/parent`), isStatus(404))

  await client.writeFile(id, `${dir}/a/b (1)/c.ts`, 'first')
  await client.appendFile(id, `${dir}/a/b (1)/c.ts`, '-second')
  assert.equal(await text(`${dir}/a/b (1)/c.ts`), 'first-second')
  assert.equal((await client.exec(id, { command: 'cat "workspace/a/b (1)/c.ts"' })).stdout, 'first-second')
  await assert.rejects(client.writeFile(id, `${dir}/a/b (1)/c.ts`, 'x', false), isStatus(409))
  assert.equal(await text(`${dir}/a/b (1)/c.ts`), 'first-second')
  await client.exec(id, { command: 'printf made > workspace/by-command.txt' })
  assert.equal(await text(`${dir}/by-command.txt`), 'made')
  const large = Buffer.alloc(300_000, 7)
  for (const path of [`${dir}/large.bin`, '/tmp/large.bin']) {
    await client.writeFile(id, path, large)
    await client.appendFile(id, path, large)
    assert.ok((await client.readFile(id, path)).equals(Buffer.concat([large, large])))
    await client.deleteFile(id, path)
  }
  await client.writeFile(id, '/tmp/empty', '', false)
  assert.equal(await text('/tmp/empty'), '')

  const listed = async (options) =>
    (await client.listFiles(id, { path: dir, ...options })).map(({ name, type }) => `${type} ${name}`).toSorted()
  assert.deepEqual(await listed({}), ['directory a', 'file by-command.txt'])
  assert.deepEqual(await listed({ recursive: true, extension: '.ts' }), ['directory a', 'directory a/b (1)', 'file a/b (1)/c.ts'])
  assert.ok(Array.isArray(await client.listFiles(id)))
  await assert.rejects(client.listFiles(id, { path: '/tmp/none' }), isStatus(404))
  const stat = await client.stat(id, `${dir}/by-command.txt`)
  assert.deepEqual([stat.name, stat.path, stat.type, stat.size], ['by-command.txt', `${dir}/by-command.txt`, 'file', 4])
  assert.equal((await client.stat(id, dir)).type, 'directory')
  await assert.rejects(client.stat(id, '/tmp/none'), isStatus(404))
  await assert.rejects(client.readFile(id, '/tmp/none'), isStatus(404))

  await assert.rejects(client.copyFile(id, { src: `${dir}/a`, dest: '/tmp/copy' }), isStatus(400))
  await client.copyFile(id, { src: `${dir}/a`, dest: '/tmp/copy', recursive: true })
  assert.equal(await text('/tmp/copy/b (1)/c.ts'), 'first-second')
  await assert.rejects(client.copyFile(id, { src: `${dir}/a`, dest: `${dir}/a/inside`, recursive: true }), isStatus(400))
  await assert.rejects(client.copyFile(id, { src: '/tmp/none', dest: '/tmp/x' }), isStatus(404))
  await assert.rejects(client.copyFile(id, { src: `${dir}/by-command.txt`, dest: '/tmp/empty' }), isStatus(409))
  await client.copyFile(id, { src: `${dir}/by-command.txt`, dest: '/tmp/empty', overwrite: true })
  await assert.rejects(client.moveFile(id, { src: '/tmp/empty', dest: `${dir}/by-command.txt` }), isStatus(409))
  await client.moveFile(id, { src: '/tmp/empty', dest: `${dir}/new/moved.txt` })
  assert.equal(await text(`${dir}/new/moved.txt`), 'made')
  await assert.rejects(client.stat(id, '/tmp/empty'), isStatus(404))

  await assert.rejects(client.deleteFile(id, `${dir}/a`), isStatus(400))
  await client.deleteFile(id, `${dir}/a`, { recursive: true })
  await assert.rejects(client.deleteFile(id, `${dir}/a`), isStatus(404))
  await client.deleteFile(id, `${dir}/a`, { force: true })
  assert.deepEqual(await listed({}), ['directory new', 'file by-command.txt'])
})
