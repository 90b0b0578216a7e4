import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

let sandbox: TestSandbox
const supervisor = () => sandbox.supervisor
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const put = (path: string, body: string | Buffer) => supervisor().call('PUT', `/files/${path}`, body)
beforeAll(async () => void (sandbox = await startReadySandbox()))
afterAll(() => sandbox[Symbol.asyncDispose]())
beforeEach(
  async () =>
    void (await supervisor().run(
      'import os\nos.system("chmod -R u+rwx /mnt/data; rm -rf /mnt/data/* /mnt/data/.[a-z]*")\nos.chdir("/mnt/data")',
    )),
)

describe('files', () => {
  it('are uploaded and downloaded unchanged, also with 20 MB', async () => {
    const data = randomBytes(20_000_000)
    const answer = await put('deep/er/big.bin', data)
    expect(JSON.parse(answer.body.toString())).toEqual({ path: 'deep/er/big.bin', bytes: data.length, sha256: sha256(data) })
    const back = await supervisor().call('GET', '/files/deep/er/big.bin')
    expect([back.headers['content-length'], back.body.equals(data)]).toEqual([String(data.length), true])
  })

  it('stream in without a known length', async () => {
    const pieces = async function* () {
      yield Buffer.from('one,')
      yield Buffer.from('two')
    }
    expect(JSON.parse((await supervisor().call('PUT', '/files/c.csv', pieces())).body.toString())).toMatchObject({
      bytes: 7,
      sha256: sha256('one,two'),
    })
  })

  it('are listed with size, time and hash', async () => {
    await put('a.txt', 'hello')
    const { files } = await supervisor().json<{ files: readonly Record<string, unknown>[] }>('GET', '/files')
    expect(files).toEqual([{ path: 'a.txt', bytes: 5, sha256: sha256('hello'), mtime: expect.any(Number) }])
  })

  it('belong to user code, which can change them', async () => {
    await put('a.txt', 'hello')
    const run = await supervisor().run('open("a.txt", "a").write("!")')
    expect(run.done.files).toMatchObject([{ path: 'a.txt', bytes: 6, sha256: sha256('hello!'), change: 'modified' }])
  })

  it('replace one another atomically while user code reads', async () => {
    await put('a.txt', 'a'.repeat(1_000_000))
    const reading = supervisor().run(
      'bad = 0\nfor _ in range(150):\n    s = open("a.txt").read()\n    bad += len(s) != 1_000_000 or len(set(s)) != 1\nprint(bad)',
    )
    for (const character of 'bcdefgh') await put('a.txt', character.repeat(1_000_000))
    expect((await reading).stdout).toBe('0\n')
  })

  it('are deleted permanently, and deleting a missing one succeeds', async () => {
    await put('a.txt', 'x')
    expect((await supervisor().call('DELETE', '/files/a.txt')).status).toBe(204)
    expect((await supervisor().call('DELETE', '/files/a.txt')).status).toBe(204)
    expect((await supervisor().call('GET', '/files/a.txt')).status).toBe(404)
    expect((await supervisor().run('1')).done.deleted).toEqual([])
  })

  it.each(['a%20b.txt', '%C3%BC%E2%82%AC/100%25.csv', 'new%0Aline', '.hidden', 'quote%22%5C.txt'])('may be called %s', async (name) => {
    expect((await put(name, 'x')).status).toBe(200)
    expect((await supervisor().call('GET', `/files/${name}`)).body.toString()).toBe('x')
  })

  it.each(['../x', '%2e%2e/x', 'a/../../x', 'a//b', './a', 'a%2Fb', 'a%00b', '', '%FF', `${'d/'.repeat(40)}x`, 'x'.repeat(300)])(
    'may not be called "%s"',
    async (name) => {
      expect((await put(name, 'x')).status).toBeGreaterThanOrEqual(400)
      expect((await supervisor().call('GET', `/files/${name}`)).status === 200 && name !== '').toBe(false)
    },
  )
})

describe('the envelope of an execution', () => {
  it('names what was created, modified and deleted, and nothing that was only touched or put', async () => {
    await put('put.txt', 'put')
    const first = await supervisor().run(
      'import os\nos.makedirs("plots")\nopen("plots/a.png", "wb").write(b"png")\nopen("b.txt", "w").write("b")',
    )
    expect(first.done.files.map((file) => [file.path, file.change]).toSorted()).toEqual([
      ['b.txt', 'created'],
      ['plots/a.png', 'created'],
    ])
    const second = await supervisor().run('os.utime("b.txt")\nos.remove("plots/a.png")')
    expect([second.done.files, second.done.deleted]).toEqual([[], ['plots/a.png']])
  })

  it('reports files even when the kernel dies', async () => {
    const run = await supervisor().run('open("late.txt", "w").write("x")\nimport os\nos._exit(1)')
    expect(run.done.files).toMatchObject([{ path: 'late.txt', change: 'created' }])
  })
})

describe('hostile files', () => {
  it.each([
    ["a link to the supervisor's environment", 'os.symlink("/proc/1/environ", "evil")', 'symlink'],
    ['a link to a file', 'os.symlink("/etc/passwd", "evil")', 'symlink'],
    ['a link to a folder', 'os.symlink("/etc", "evil")', 'symlink'],
    ['a magic link', 'os.symlink("/proc/self/fd/0", "evil")', 'symlink'],
    ['a FIFO', 'os.mkfifo("evil")', 'not_regular'],
    ['a socket', 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("evil")', 'not_regular'],
  ])('%s is skipped and never given out', async (_name, code, reason) => {
    const run = await supervisor().run(code)
    expect(run.done.skipped).toContainEqual({ path: 'evil', reason })
    expect(run.done.files).toEqual([])
    expect((await supervisor().call('GET', '/files/evil')).status).toBe(404)
  })

  it('a second hard link is a separate file for the protocol, and both are given out', async () => {
    const first = await supervisor().run('import os\nopen("one", "w").write("x")')
    expect(first.done.files.map(({ path }) => path)).toEqual(['one'])
    const second = await supervisor().run('os.link("one", "two")')
    expect([second.done.files.map(({ path }) => path), second.done.deleted, second.done.skipped]).toEqual([['two'], [], []])
    expect((await supervisor().call('GET', '/files/two')).body.toString()).toBe('x')
  })

  it('a link as a folder of the path is not followed, in or out', async () => {
    await supervisor().run('os.symlink("/tmp", "way")\nopen("/tmp/secret", "w").write("x")')
    expect((await supervisor().call('GET', '/files/way/secret')).status).toBe(404)
    expect((await put('way/planted', 'x')).status).toBeGreaterThanOrEqual(400)
    expect((await supervisor().run('print(os.path.exists("/tmp/planted"))')).stdout).toBe('False\n')
  })

  it('a put over a link replaces the link, not what it points to', async () => {
    await supervisor().run('open("/tmp/target", "w").write("old")\nos.symlink("/tmp/target", "a")')
    expect((await put('a', 'new')).status).toBe(200)
    expect((await supervisor().run('print(open("/tmp/target").read(), os.path.islink("a"))')).stdout).toBe('old False\n')
  })

  it('a sparse file of a terabyte is not read, which would take minutes, and that is reported', async () => {
    const run = await supervisor().run('with open("giant", "wb") as f: f.truncate(1 << 40)')
    expect([run.done.outcome, run.done.files]).toEqual(['ok', []])
    expect(run.done.skipped).toEqual([{ path: 'giant', reason: 'too_large' }])
    expect(run.done.run_ms).toBeLessThan(20_000)
  })

  it('a skipped entry is reported once, by the execution that created it', async () => {
    expect((await supervisor().run('os.symlink("/etc/passwd", "evil")')).done.skipped).toEqual([{ path: 'evil', reason: 'symlink' }])
    expect((await supervisor().run('1')).done.skipped).toEqual([])
    const changed = await supervisor().run('os.remove("evil")\nos.mkfifo("evil")')
    expect(changed.done.skipped).toEqual([{ path: 'evil', reason: 'not_regular' }])
  })

  it('names that are no UTF-8 are skipped', async () => {
    expect((await supervisor().run('open(b"\\xff\\xfe", "w").close()')).done.skipped).toMatchObject([{ reason: 'name' }])
  })

  it('unreadable folders are reported', async () => {
    expect((await supervisor().run('os.makedirs("shut/in")\nos.chmod("shut", 0)')).done.skipped).toEqual([
      { path: 'shut', reason: 'unreadable' },
    ])
  })

  it('a hundred thousand files are truncated, which is reported, and known files stay known', async () => {
    await put('before.txt', 'x')
    const make = 'os.mkdir("many")\nfor i in range(100_000): os.close(os.open(f"many/{i}", os.O_CREAT))'
    const run = await supervisor().run(make, { timeout_ms: 60_000 })
    expect(run.done.truncated).toContainEqual(expect.objectContaining({ what: 'files', reason: 'too_many' }))
    expect(run.done.files).toHaveLength(10_000)
    expect(run.done.deleted).toEqual([])
  })

  it('thousands of the longest names, of control characters, delay nothing', async () => {
    const make = `import os
folder = "/".join(["\\x01" * 250] * 3)
os.makedirs(folder)
for i in range(9_900): os.close(os.open(folder + "/" + "\\x01" * 240 + str(i), os.O_CREAT | os.O_WRONLY))`
    const run = await supervisor().run(make, { timeout_ms: 60_000 })
    expect([run.done.outcome, run.done.skipped]).toEqual(['ok', []])
    expect(run.done.truncated).toContainEqual(expect.objectContaining({ what: 'files', reason: 'too_many' }))
    expect(run.done.files.length).toBeGreaterThan(500)
    expect(Buffer.byteLength(JSON.stringify(run.done))).toBeLessThan(8 * 1024 * 1024)
    // A helper that does not answer is replaced after twenty seconds, and the folder is reported as unreadable.
    expect((await supervisor().run('print(1)')).done.skipped).toEqual([])
  })

  it('a sparse file that was known stays known when its holes become too large', async () => {
    await supervisor().run('open("grown", "w").write("x")')
    const grown = await supervisor().run('os.truncate("grown", 1 << 40)')
    expect(grown.done).toMatchObject({ files: [], deleted: [], skipped: [{ path: 'grown', reason: 'too_large' }] })
    expect((await supervisor().run('os.truncate("grown", 1)')).done).toMatchObject({ files: [], deleted: [] })
  })

  it('a deep tree is listed without a crash or a hang', async () => {
    const run = await supervisor().run(
      'path = "/mnt/data"\nfor i in range(100):\n    path += "/d"\n    os.mkdir(path)\nopen(path + "/f", "w").close()',
    )
    expect(run.done.outcome).toBe('ok')
    expect(run.done.skipped).toContainEqual(expect.objectContaining({ reason: 'name' }))
  })

  it('a file that becomes a link again and again gives no foreign byte', async () => {
    await supervisor().run(
      'open("real", "w").write("mine")\nos.symlink("/etc/passwd", "link")\nimport threading\nstop = False\ndef swap():\n    while not stop:\n        try:\n            os.rename("real", "x"); os.rename("link", "real"); os.rename("real", "link"); os.rename("x", "real")\n        except OSError: pass\nt = threading.Thread(target=swap); t.start()',
    )
    const seen = new Set<string>()
    for (let i = 0; i < 300; i++) {
      const answer = await supervisor().call('GET', '/files/real')
      if (answer.status === 200) seen.add(answer.body.toString())
    }
    await supervisor().run('stop = True\nt.join()')
    expect([...seen]).toEqual(['mine'])
  })

  it('processes of the supervisor cannot be stopped, slowed or read by the worker', async () => {
    const run = await supervisor().run(`
import resource, signal
touched = []
for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
    if pid == os.getpid() or os.stat(f"/proc/{pid}").st_uid == os.getuid() and os.getppid() != pid: continue
    for name, attempt in {
        "stop": lambda: os.kill(pid, signal.SIGSTOP), "kill": lambda: os.kill(pid, signal.SIGKILL), "nice": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        "affinity": lambda: os.sched_setaffinity(pid, {0}), "idle": lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
        "limits": lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0)), "memory": lambda: open(f"/proc/{pid}/mem", "rb+"), "descriptors": lambda: os.listdir(f"/proc/{pid}/fd"),
    }.items():
        try: attempt(); touched.append((pid, name))
        except OSError: pass
print(touched)`)
    expect(run.stdout).toBe('[]\n')
    expect((await put('still.txt', 'works')).status).toBe(200)
  })
})
