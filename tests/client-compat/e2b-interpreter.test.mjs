import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Sandbox, Volume } from '@e2b/code-interpreter'
import { connection } from './e2b.mjs'

let sandbox
before(async () => {
  sandbox = await Sandbox.create({ ...connection, timeoutMs: 600_000, metadata: { purpose: 'test' }, envs: { GREETING: 'hello' } })
})
after(() => sandbox?.kill())

describe('@e2b/code-interpreter', { timeout: 120_000 }, () => {
  it('runs code with live output, results and variables that stay', async () => {
    const times = []
    const first = await sandbox.runCode('import time\nfor i in range(3):\n  print(i, flush=True)\n  time.sleep(0.4)\nx = 41', {
      onStdout: () => times.push(Date.now()),
    })
    assert.equal(first.logs.stdout.join(''), '0\n1\n2\n')
    assert.ok(times.at(-1) - times[0] > 500, 'output arrives while the code runs')
    assert.ok(first.executionCount > 0)
    const second = await sandbox.runCode('import sys; print("err", file=sys.stderr); x + 1')
    assert.equal(second.text, '42')
    assert.equal(second.results[0].isMainResult, true)
    assert.equal(second.logs.stderr.join(''), 'err\n')
    assert.equal((await sandbox.runCode('"text"')).text, 'text')
  })

  it('returns images, HTML and other formats, of any size', async () => {
    const shown = []
    const { results, error } = await sandbox.runCode(
      [
        'from IPython.display import display, HTML, Markdown, Latex, SVG, JSON, Image',
        'import io, numpy, PIL.Image',
        'display(HTML("<b>h</b>"))',
        'display(Markdown("*m*"))',
        'display(Latex("$x$"))',
        'display(JSON({"a": 1}))',
        'display(SVG("<svg xmlns=\\"http://www.w3.org/2000/svg\\"></svg>"))',
        'png = io.BytesIO()',
        'PIL.Image.fromarray(numpy.random.default_rng(1).integers(0, 255, (400, 400, 3), dtype="uint8")).save(png, "png")',
        'display(Image(png.getvalue()))',
      ].join('\n'),
      { onResult: (result) => shown.push(result) },
    )
    assert.equal(error, undefined)
    assert.equal(shown.length, 6)
    assert.equal(results[0].html, '<b>h</b>')
    assert.equal(results[1].markdown, '*m*')
    assert.equal(results[2].latex, '$x$')
    assert.deepEqual(results[3].json, { a: 1 })
    assert.match(results[4].svg, /<svg/)
    const png = Buffer.from(results[5].png, 'base64')
    assert.equal(png.subarray(1, 4).toString(), 'PNG')
    assert.ok(png.length > 400_000)
  })

  it('reports errors of the code', async () => {
    const { error } = await sandbox.runCode('1 / 0')
    assert.equal(error.name, 'ZeroDivisionError')
    assert.equal(error.value, 'division by zero')
    assert.match(error.traceback, /ZeroDivisionError/)
    assert.equal((await sandbox.runCode('def (')).error.name, 'SyntaxError')
  })

  it('passes environment variables of the sandbox and of one call', async () => {
    const code = 'import os; print(os.environ.get("GREETING"), os.environ.get("ONCE"))'
    assert.equal((await sandbox.runCode(code, { envs: { ONCE: 'yes' } })).logs.stdout.join(''), 'hello yes\n')
    assert.equal((await sandbox.runCode(code)).logs.stdout.join(''), 'hello None\n')
  })

  it('runs bash, and has contexts with a folder', async () => {
    assert.equal((await sandbox.runCode('echo $((6 * 7))', { language: 'bash' })).logs.stdout.join(''), '42\n')
    await sandbox.runCode('import os; os.makedirs("/mnt/data/deep", exist_ok=True)')
    const context = await sandbox.createCodeContext({ cwd: '/home/user/deep' })
    assert.equal(context.language, 'python')
    assert.equal((await sandbox.runCode('import os; print(os.getcwd())', { context })).logs.stdout.join(''), '/home/user/deep\n')
    assert.deepEqual(
      (await sandbox.listCodeContexts()).map(({ id }) => id),
      ['python', 'javascript', context.id],
    )
    await sandbox.runCode('kept = 1')
    assert.equal((await sandbox.runCode('kept', { context })).error.name, 'NameError')
    await sandbox.runCode('own = 2', { context })
    await sandbox.restartCodeContext(context)
    assert.equal((await sandbox.runCode('own', { context })).error.name, 'NameError')
    assert.equal((await sandbox.runCode('kept')).text, '1')
    await sandbox.removeCodeContext(context)
    await assert.rejects(sandbox.runCode('1', { context }), /No context/)
    await assert.rejects(sandbox.runCode('1', { language: 'cobol' }), /400/)
  })

  it('ends code at the time limit of the call, and runs the next call', async () => {
    await sandbox.runCode('alive = 7')
    await assert.rejects(sandbox.runCode('import time; time.sleep(60)', { timeoutMs: 1_000 }), { name: 'TimeoutError' })
    assert.equal((await sandbox.runCode('alive')).text, '7')
  })

  it('describes, lists, extends and kills sandboxes', async () => {
    const info = await sandbox.getInfo()
    assert.equal(info.sandboxId, sandbox.sandboxId)
    assert.equal(info.state, 'running')
    assert.deepEqual(info.metadata, { purpose: 'test' })
    await sandbox.setTimeout(1_200_000)
    assert.ok((await sandbox.getInfo()).endAt > info.endAt)
    const other = await Sandbox.create(connection)
    const page = await Sandbox.list({ ...connection, query: { metadata: { purpose: 'test' } } }).nextItems()
    assert.ok(page.some(({ sandboxId }) => sandboxId === sandbox.sandboxId))
    assert.ok(!page.some(({ sandboxId }) => sandboxId === other.sandboxId))
    assert.equal(await other.kill(), true)
    assert.equal(await other.kill(), false)
    await assert.rejects(other.runCode('1'), { name: 'TimeoutError', message: /502.*not found/ })
    const connected = await Sandbox.connect(sandbox.sandboxId, connection)
    assert.equal((await connected.runCode('6 * 7')).text, '42')
  })

  it('keeps a snapshot, and starts a sandbox with its files', async () => {
    await sandbox.files.write('kept.txt', 'kept')
    const { snapshotId } = await sandbox.createSnapshot()
    const copy = await Sandbox.create(snapshotId, connection)
    assert.equal(await copy.files.read('kept.txt'), 'kept')
    await copy.kill()
    assert.equal(await Sandbox.deleteSnapshot(snapshotId, connection), true)
  })

  it('names unsupported features, and refuses a wrong key', async () => {
    await assert.rejects(Volume.create('data', connection), /501: .*not offer/)
    assert.ok(Array.isArray(await sandbox.getMetrics()))
    await assert.rejects(Sandbox.create('no-such-template', connection), /404: No template/)
    await assert.rejects(Sandbox.create({ ...connection, apiKey: 'ck_wrong' }), { name: 'AuthenticationError' })
    await assert.rejects(Sandbox.connect('0'.repeat(52), connection), { name: 'SandboxNotFoundError' })
  })
})
