import { afterAll, beforeAll, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

let from: TestSandbox
let to: TestSandbox
beforeAll(async () => void ([from, to] = await Promise.all([startReadySandbox(), startReadySandbox()])))
afterAll(() => Promise.all([from[Symbol.asyncDispose](), to[Symbol.asyncDispose]()]))

interface Lost {
  readonly what: string
  readonly reason: string
}

const SETUP = `
import os, subprocess, threading
class App:
    def run(self): threading.Event().wait()
threading.Thread(target=App().run, name="server", daemon=True).start()
subprocess.Popen(["sleep", "901"])
import concurrent.futures
with concurrent.futures.ThreadPoolExecutor() as pool: pool.submit(print, "done").result()
open("go.sh", "w").write("#!/bin/sh\\necho it runs")
os.chmod("go.sh", 0o755); os.utime("go.sh", (1_000_000_000, 1_000_000_000))
os.makedirs("out/logs"); os.symlink("go.sh", "latest"); os.makedirs("/tmp/cache/empty")
lines = open("lines.txt", "w+"); lines.write("one\\ntwo\\nthree\\n"); lines.seek(0); next(lines);
import builtins, gc, logging, sys
%alias greet echo hello
sys.argv = ["tool", "-v"]; logging.disable(logging.INFO); gc.disable(); builtins.shared = 1
len(sys.argv)`

const SHELL_SETUP = `readonly limit=5; set -- 'a b' c; exec 5>/tmp/log.txt; sleep 902 & until grep -q sleep /proc/$!/comm; do :; done`

it('a snapshot names running programs, threads and open descriptors', async () => {
  expect((await from.supervisor.run(SETUP)).error).toBeUndefined()
  expect((await from.supervisor.run(SHELL_SETUP, { language: 'bash' })).done.outcome).toBe('ok')
  expect((await from.supervisor.run('_ + 1')).error).toBeUndefined()
  const snapshot = await from.supervisor.call('POST', '/snapshot')
  const lost = JSON.parse(snapshot.trailers['cellblock-lost'] ?? 'null') as readonly Lost[]
  expect(lost.map(({ what }) => what.replace(/\d{2,}/, 'N')).toSorted()).toEqual([
    'bash descriptor 5',
    'builtins shared',
    'pool',
    'process N',
    'process N',
    'results Out',
    'thread server',
  ])
  const reasons = lost.map(({ reason }) => reason).join('\n')
  expect(reasons).toMatch(/Start it again: sleep 901$/m)
  expect(reasons).toMatch(/Start it again: sleep 902$/m)
  expect(reasons).toContain('/tmp/log.txt')
})

it('modes, times, empty folders, links, positions and the arguments of the shell are restored', async () => {
  const snapshot = await from.supervisor.call('POST', '/snapshot')
  for (const path of ['go.sh', 'lines.txt']) {
    const file = await from.supervisor.call('GET', `/files/${path}`)
    expect((await to.supervisor.call('PUT', `/files/${path}`, file.body)).status).toBe(200)
  }
  const restored = JSON.parse((await to.supervisor.call('POST', '/restore', snapshot.body)).body.toString()) as { lost: Lost[] }
  expect(restored.lost.map(({ what }) => what)).not.toContain('file attributes')
  const shell = await to.supervisor.run(
    './go.sh; cat latest | head -1; stat -c %Y go.sh; ls -d out/logs /tmp/cache/empty; echo "$1-$2-$#"; limit=6',
    {
      language: 'bash',
    },
  )
  expect(shell.stdout).toBe('it runs\n#!/bin/sh\n1000000000\n/tmp/cache/empty\nout/logs\na b-c-2\n')
  expect(shell.text('stderr')).toContain('limit: readonly variable')
  const python = await to.supervisor.run('print(lines.readline())')
  expect(python.stdout).toBe('two\n\n')
  const settings = await to.supervisor.run(
    'import gc\nprint(sys.argv, logging.root.manager.disable, gc.isenabled(), In[-4][:5])\n%greet you',
  )
  expect(settings.stdout).toBe("['tool', '-v'] 20 False _ + 1\nhello you\n")
  // A changed mode or time is no changed file.
  expect([...shell.done.files, ...python.done.files]).toEqual([])
})

it('a snapshot keeps the variables of code that holds every descriptor', async () => {
  await using sandbox = await startReadySandbox()
  const hold = 'kept = {"answer": 42}\nheld = []\ntry:\n    while True: held.append(open("/dev/null"))\nexcept OSError: print("full")'
  expect((await sandbox.supervisor.run(hold)).stdout).toBe('full\n')
  const snapshot = await sandbox.supervisor.call('POST', '/snapshot')
  expect(snapshot.status).toBe(200)
  const lost = (JSON.parse(snapshot.trailers['cellblock-lost'] ?? '[]') as readonly Lost[]).map(({ what }) => what)
  expect(lost).not.toContain('kept')
  await using other = await startReadySandbox()
  expect((await other.supervisor.call('POST', '/restore', snapshot.body)).status).toBe(200)
  expect((await other.supervisor.run('print(kept)')).stdout).toBe("{'answer': 42}\n")
})
