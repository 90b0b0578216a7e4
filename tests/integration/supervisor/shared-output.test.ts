import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECURE_OPTIONS, startReadySandbox, type TestSandbox } from './start-sandbox.ts'
import type { Run } from './supervisor-caller.ts'

/** With the Node of this machine, because the smallest image has none. */
let sandbox: TestSandbox
beforeAll(
  async () =>
    void (sandbox = await startReadySandbox({ options: [...SECURE_OPTIONS, '--volume', `${process.execPath}:/usr/local/bin/node:ro`] })),
)
afterAll(() => sandbox[Symbol.asyncDispose]())

const python = (code: string): Promise<Run> => sandbox.supervisor.run(code)
const inLanguage = (language: string, code: string): Promise<Run> => sandbox.supervisor.run(code, { language })

const FLOOD = "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo done"
const NODE = 'setInterval(() => {}, 1000); process.stdout.write("listening\\n")'
/** Sets the flag on the output that it was started with, as Node does, and stays. */
const OTHER_PROGRAM = 'python3 -c "import os, time; os.set_blocking(1, False); os.set_blocking(2, False); time.sleep(60)" & sleep 1'

async function expectWholeOutput(): Promise<void> {
  const whole = `${'x'.repeat(1_000_000)}\ndone\n`
  for (const run of [
    await inLanguage('bash', FLOOD),
    await python(`import subprocess; _ = subprocess.run(${JSON.stringify(FLOOD)}, shell=True)`),
    await python(`import os; _ = os.write(1, b'x' * 1_000_000 + b'\\ndone\\n')`),
    await python(`!python3 -c "print('x' * 1_000_000); print('done')"`),
  ])
    expect([run.stdout.length, run.stdout.endsWith('x\ndone\n'), run.text('stderr')]).toEqual([whole.length, true, ''])
}

describe('output of a megabyte is complete', () => {
  it('after a JavaScript cell', async () => {
    expect((await inLanguage('javascript', 'console.log(1)')).stdout).toBe('1\n')
    await expectWholeOutput()
    const own = await inLanguage('javascript', "process.stdout.write('x'.repeat(1_000_000) + '\\ndone\\n')")
    expect(own.stdout.length).toBe(1_000_006)
  })

  it.each([
    ['a Node program of a bash cell', () => inLanguage('bash', `node -e '${NODE}' & sleep 1`)],
    [
      'a Node program of a Python cell',
      () => python(`import subprocess, time; p = subprocess.Popen(['node', '-e', '''${NODE}''']); time.sleep(1)`),
    ],
    ['another program that makes its output non-blocking', () => inLanguage('bash', OTHER_PROGRAM)],
  ])('beside %s', async (_name, start) => {
    await start()
    await expectWholeOutput()
  })

  it('of the cell that starts a Node program', async () => {
    const run = await inLanguage('bash', `node -e '${NODE}' & sleep 1; ${FLOOD}`)
    expect([run.stdout.length, run.stdout.endsWith('x\ndone\n'), run.text('stderr')]).toEqual([1_000_016, true, ''])
  })
})

describe('output that an earlier cell replaced', () => {
  it.each([
    ['a capture that failed', 'import io, sys\nsys.stdout = io.StringIO()\nraise RuntimeError("x")', 'sys.stdout'],
    ['a file', 'import sys\nsys.stdout = open("/tmp/log.txt", "w")', 'sys.stdout'],
    ['no stream at all', 'import sys\nsys.stdout = None', 'sys.stdout'],
    ['a descriptor of a file', 'import os\nos.dup2(os.open("/tmp/log.txt", os.O_WRONLY | os.O_CREAT), 1)', 'stdout'],
    ['a descriptor that is closed', 'import os\nos.close(1)', 'stdout'],
  ])('is shown again after %s, and standard error says so', async (_name, code, what) => {
    await python(code)
    const run = await python('print("later"); import subprocess; _ = subprocess.run(["echo", "child"])')
    expect([run.stdout, run.done.outcome]).toEqual(['later\nchild\n', 'ok'])
    expect(run.text('stderr')).toMatch(new RegExp(`^${what} was re(placed|directed) by an earlier cell.*\\n$`))
    expect((await python('print("then")')).text('stderr')).toBe('')
  })

  it.each([
    ['a text layer over its bytes', 'import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, "utf-8", line_buffering=True)'],
    [
      'a stream that copies to a file',
      'import sys\nclass Tee:\n  def __init__(s, *to): s.to = to\n  def write(s, t): [f.write(t) for f in s.to]\n  def flush(s): pass\nsys.stdout = Tee(sys.stdout, open("/tmp/tee.txt", "w"))',
    ],
    ['its descriptor', 'import sys\nsys.stdout = open(1, "w", buffering=1, closefd=False)'],
  ])('stays when it is %s', async (_name, code) => {
    await python(`${code}\nkept = sys.stdout`)
    const run = await python('print("later")\nassert sys.stdout is kept')
    expect([run.stdout, run.text('stderr')]).toEqual(['later\n', ''])
    await python('sys.stdout = sys.__stdout__')
  })

  it('is named when a bash cell sent it to a file', async () => {
    await inLanguage('bash', 'exec >/tmp/bash.log')
    expect((await inLanguage('bash', 'echo hidden')).text('stderr')).toContain('leads to /tmp/bash.log since an earlier cell')
    await inLanguage('bash', 'exec 1>/proc/$PPID/fd/1')
    const shown = await inLanguage('bash', 'echo shown')
    expect([shown.stdout, shown.text('stderr')]).toEqual(['shown\n', ''])
  })
})
