import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { CommandExitError, Sandbox } from 'e2b'
import { connection } from './e2b.mjs'

let sandbox
before(async () => {
  sandbox = await Sandbox.create({ ...connection, timeoutMs: 600_000, envs: { GREETING: 'hello' } })
})
after(() => sandbox?.kill())

/** Waits until the condition holds. */
async function until(condition, what) {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail(`not in time: ${what}`)
}

describe('files of e2b', { timeout: 120_000 }, () => {
  it('are written, read, listed, renamed and removed', async () => {
    assert.equal(await sandbox.isRunning(), true)
    const info = await sandbox.files.write('/home/user/a/b.txt', 'one')
    assert.deepEqual([info.name, info.path, info.type], ['b.txt', '/home/user/a/b.txt', 'file'])
    assert.equal(await sandbox.files.read('/home/user/a/b.txt'), 'one')
    assert.equal(await sandbox.files.read('a/b.txt'), 'one')
    assert.equal((await sandbox.commands.run('cat /mnt/data/a/b.txt')).stdout, 'one')
    await sandbox.files.write([
      { path: 'a/c.bin', data: new Uint8Array([0, 255, 1]).buffer },
      { path: 'd.txt', data: new Blob(['two']) },
    ])
    assert.deepEqual([...(await sandbox.files.read('a/c.bin', { format: 'bytes' }))], [0, 255, 1])
    const listed = await sandbox.files.list('/home/user', { depth: 2 })
    assert.deepEqual(listed.map(({ path, type }) => [path, type]).toSorted(), [
      ['/home/user/a', 'dir'],
      ['/home/user/a/b.txt', 'file'],
      ['/home/user/a/c.bin', 'file'],
      ['/home/user/d.txt', 'file'],
    ])
    const renamed = await sandbox.files.rename('/home/user/d.txt', '/home/user/e/f.txt')
    assert.equal(renamed.path, '/home/user/e/f.txt')
    assert.equal(await sandbox.files.exists('/home/user/d.txt'), false)
    assert.equal(await sandbox.files.read('/home/user/e/f.txt'), 'two')
    const stat = await sandbox.files.getInfo('/home/user/e/f.txt')
    assert.deepEqual([stat.size, stat.type, stat.permissions.length], [3, 'file', 10])
    assert.ok(Math.abs(stat.modifiedTime.getTime() - Date.now()) < 300_000)
    await sandbox.files.remove('/home/user/e')
    assert.equal(await sandbox.files.exists('/home/user/e/f.txt'), false)
    await assert.rejects(sandbox.files.read('/home/user/e/f.txt'), { name: 'FileNotFoundError' })
  })

  it('are folders, streams, compressed uploads, and files elsewhere in the sandbox', async () => {
    assert.equal(await sandbox.files.makeDir('/home/user/new/deep'), true)
    assert.equal(await sandbox.files.makeDir('/home/user/new/deep'), false)
    const large = 'x'.repeat(3_000_000)
    await sandbox.files.write('large.txt', new Blob([large]).stream())
    assert.equal((await sandbox.files.read('large.txt')).length, large.length)
    await sandbox.files.write('zipped.txt', large, { gzip: true })
    assert.equal((await sandbox.commands.run('wc -c < /mnt/data/zipped.txt')).stdout.trim(), '3000000')
    await sandbox.files.write('/tmp/e2b/x.txt', 'outside')
    assert.equal(await sandbox.files.read('/tmp/e2b/x.txt'), 'outside')
    assert.equal((await sandbox.commands.run('cat /tmp/e2b/x.txt')).stdout, 'outside')
    await sandbox.files.write('/tmp/e2b/large.txt', 'y'.repeat(20_000_000))
    assert.equal(
      (await sandbox.commands.run('wc -c < /tmp/e2b/large.txt; ls -A /mnt/data | grep -c upload || true')).stdout,
      '20000000\n0\n',
    )
    await sandbox.files.write('/tmp/e2b/large.txt', 'y'.repeat(1_000_000))
    assert.equal((await sandbox.files.read('/tmp/e2b/large.txt')).length, 1_000_000)
    await assert.rejects(sandbox.files.write('/usr/x.txt', 'no'))
    await assert.rejects(sandbox.files.list('/home/user/missing'), /not/i)
  })

  it('are watched', async () => {
    const events = []
    await sandbox.files.makeDir('/home/user/watched')
    const watcher = await sandbox.files.watchDir('/home/user/watched', (event) => events.push(`${event.type} ${event.name}`))
    await sandbox.commands.run('echo 1 > /mnt/data/watched/one.txt')
    await until(() => events.includes('create one.txt'), 'an event of a command')
    await sandbox.files.write('/home/user/watched/two.txt', '2')
    await until(() => events.some((event) => event.endsWith('two.txt')), 'an event of an upload')
    await watcher.stop()
    await assert.rejects(sandbox.files.watchDir('/home/user/missing', () => undefined))
  })
})

describe('commands of e2b', { timeout: 120_000 }, () => {
  it('run with live output, variables and a folder', async () => {
    const times = []
    const result = await sandbox.commands.run('echo a; sleep 0.7; echo b; echo err >&2', { onStdout: () => times.push(Date.now()) })
    assert.deepEqual([result.exitCode, result.stdout, result.stderr], [0, 'a\nb\n', 'err\n'])
    assert.ok(times.at(-1) - times[0] > 400)
    const { stdout } = await sandbox.commands.run('echo $GREETING $ONCE; pwd', { envs: { ONCE: 'yes' }, cwd: '/tmp' })
    assert.equal(stdout, 'hello yes\n/tmp\n')
    const { stdout: names } = await sandbox.commands.run('cd /tmp && echo needle > hay.txt && grep -rHZn needle hay.txt')
    assert.equal(names, 'hay.txt\u00001:needle\n')
    await assert.rejects(sandbox.commands.run('echo no >&2; exit 3'), (error) => error instanceof CommandExitError && error.exitCode === 3)
  })

  it('run in the background, take input and signals, and are listed and connected to', async () => {
    const cat = await sandbox.commands.run('cat; echo end', { background: true, stdin: true, timeoutMs: 60_000 })
    const listed = await sandbox.commands.list()
    assert.deepEqual(
      listed.map(({ pid, cmd, args }) => [pid, cmd, args.at(-1)]),
      [[cat.pid, '/bin/bash', 'cat; echo end']],
    )
    await sandbox.commands.sendStdin(cat.pid, 'line 1\n')
    await until(() => cat.stdout.includes('line 1'), 'the echo of the input')
    const second = await sandbox.commands.connect(cat.pid)
    await sandbox.commands.sendStdin(cat.pid, 'line 2\n')
    await sandbox.commands.closeStdin(cat.pid)
    assert.equal((await cat.wait()).stdout, 'line 1\nline 2\nend\n')
    assert.match((await second.wait()).stdout, /line 2\nend\n$/)
    const sleeper = await sandbox.commands.run('sleep 100', { background: true })
    assert.equal(await sleeper.kill(), true)
    await assert.rejects(sleeper.wait(), CommandExitError)
    await until(async () => (await sandbox.commands.list()).length === 0, 'the end of all commands')
    assert.equal(await sandbox.commands.kill(sleeper.pid), false)
    await assert.rejects(sandbox.commands.run('kill -TERM $$'), { exitCode: 143 })
  })

  it('have arguments of 1 MiB and long output, and say what is missing of longer output', async () => {
    const words = Array.from({ length: 16 }, () => 'x'.repeat(65_536))
    assert.equal((await sandbox.commands.run(`printf %s ${words.join(' ')}`)).stdout.length, 1_048_576)
    const file = await sandbox.commands.run(
      'head -c 4500000 /dev/urandom > saved.bin; sha256sum < saved.bin | cut -c1-64; base64 -w0 saved.bin',
    )
    const [hash, saved] = file.stdout.split('\n')
    assert.equal(createHash('sha256').update(Buffer.from(saved, 'base64')).digest('hex'), hash)
    assert.equal(file.stderr, '')
    const long = await sandbox.commands.run('head -c 30000000 /dev/zero | tr "\\0" x')
    assert.match(long.stderr, /^Not available: stdout\. Cut to \d+ of 30000000 bytes/)
  })

  it('fail for a user that does not exist', async () => {
    assert.equal((await sandbox.commands.run('echo root', { user: 'root' })).stdout, 'root\n')
    await assert.rejects(sandbox.commands.run('whoami', { user: 'nobody-here' }), { exitCode: 1, stderr: /unknown user nobody-here/ })
  })

  it('end at their time limit', async () => {
    await assert.rejects(sandbox.commands.run('sleep 60', { timeoutMs: 1_500 }), { name: 'TimeoutError' })
    await until(async () => (await sandbox.commands.list()).length === 0, 'the end of the command')
  })

  it('have terminals', async () => {
    let shown = ''
    const terminal = await sandbox.pty.create({
      cols: 80,
      rows: 24,
      timeoutMs: 60_000,
      onData: (data) => (shown += Buffer.from(data).toString()),
    })
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('stty size; echo $((6*7))\n'))
    await until(() => /24 80[^]*42/.test(shown), 'the size of the terminal')
    await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 30 })
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('stty size\n'))
    await until(() => /30 100/.test(shown), 'the new size')
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('exit\n'))
    assert.equal((await terminal.wait()).exitCode, 0)
  })
})

describe('the life of an e2b sandbox', { timeout: 120_000 }, () => {
  it('pauses with its files, and resumes by connect', async () => {
    await sandbox.files.write('kept.txt', 'kept')
    assert.equal(await sandbox.pause(), true)
    assert.equal(await sandbox.pause(), false)
    assert.equal((await sandbox.getInfo()).state, 'paused')
    assert.equal(await sandbox.isRunning(), false)
    await assert.rejects(sandbox.commands.run('true'))
    const resumed = await Sandbox.connect(sandbox.sandboxId, connection)
    assert.equal((await resumed.commands.run('cat kept.txt')).stdout, 'kept')
    assert.equal((await resumed.getInfo()).state, 'running')
  })
})
