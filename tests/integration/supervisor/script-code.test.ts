import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyWheel } from '../../support/tiny-wheel.ts'
import { SECURE_OPTIONS, startReadySandbox, type TestSandbox } from './start-sandbox.ts'

/** With the data stack imported before the kernel was forked, and without. */
let warm: TestSandbox
let fresh: TestSandbox
/** Mounted in the fresh sandbox. */
let wheelhouse: string
beforeAll(async () => {
  warm = await startReadySandbox()
  wheelhouse = await mkdtemp(join(tmpdir(), 'cellblock-wheels-'))
  await chmod(wheelhouse, 0o755)
  await writeTinyWheel(wheelhouse, 'tiny_wheel')
  fresh = await startReadySandbox({
    limits: { preload: [] },
    options: [...SECURE_OPTIONS, `--volume=${wheelhouse}:/opt/wheels:ro`],
  })
}, 240_000)
afterAll(async () => {
  await Promise.all([warm, fresh].map((sandbox) => sandbox[Symbol.asyncDispose]()))
  await rm(wheelhouse, { recursive: true })
})

const OPTIONS = `
import json, matplotlib, matplotlib.pyplot, numpy, pandas
def walk(node, path=""):
    for name, value in sorted(node.items()):
        yield from walk(value, f"{path}{name}.") if isinstance(value, dict) else [(path + name, repr(value))]
options = [(name, repr(pandas.get_option(name))) for name in sorted(pandas._config.config._registered_options)]
options += walk(numpy.get_printoptions())
options += walk(dict(matplotlib.rcParams))
print(json.dumps(options))`

describe('code that was written as a script', () => {
  it('meets the same options of pandas, numpy and matplotlib in a forked and in a fresh kernel', async () => {
    const [forked, started] = [await warm.supervisor.run(OPTIONS), await fresh.supervisor.run(OPTIONS)]
    const options = JSON.parse(started.stdout) as readonly (readonly [string, string])[]
    expect(options.length).toBeGreaterThan(300)
    expect(options).toContainEqual(['display.max_columns', '20'])
    expect(JSON.parse(forked.stdout)).toEqual(options)
  })

  it.each([
    ['sys.exit(0)', 'import sys\nprint("end")\nsys.exit(0)'],
    ['sys.exit()', 'import sys\nprint("end")\nsys.exit()'],
    ['exit()', 'print("end")\nexit()'],
    ['quit()', 'print("end")\nquit()'],
    [
      'a passing unittest.main()',
      'import unittest\nclass T(unittest.TestCase):\n    def test_it(self): print("end")\nif __name__ == "__main__": unittest.main()',
    ],
  ])('succeeds when it ends with %s', async (_name, code) => {
    const run = await warm.supervisor.run(code)
    expect([run.done.outcome, run.error, run.stdout]).toEqual(['ok', undefined, 'end\n'])
  })

  it.each([
    ['sys.exit(2)', 'import sys\nsys.exit(2)', '2'],
    ['sys.exit("no")', 'import sys\nsys.exit("no")', 'no'],
    ['a failing unittest.main()', 'import unittest\nclass T(unittest.TestCase):\n    def test_it(self): self.fail()\nunittest.main()', '1'],
  ])('fails when it ends with %s', async (_name, code, value) => {
    const run = await warm.supervisor.run(code)
    expect([run.done.outcome, run.error]).toMatchObject(['error', { name: 'SystemExit', value, traceback: [`SystemExit: ${value}`] }])
  })

  it('shows figures under the Agg backend once, where plt.show() is called', async () => {
    const code =
      'import matplotlib\nmatplotlib.use("Agg")\nimport matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.title("rise")\nplt.show()\nprint("after")'
    for (const sandbox of [warm, fresh]) {
      const run = await sandbox.supervisor.run(code)
      expect([run.done.outcome, run.text('stderr')]).toEqual(['ok', ''])
      expect(run.of('display').map(({ data }) => data)).toEqual([
        expect.objectContaining({
          'image/png': expect.stringMatching(/^iVBOR/) as string,
          'application/vnd.cellblock.chart.v1+json': expect.objectContaining({
            charts: [expect.objectContaining({ title: 'rise' })],
          }) as object,
        }),
      ])
    }
  })

  it('runs asyncio.run and new event loops in a cell while tasks of the kernel continue', async () => {
    const code = `
import asyncio
ticks = []
async def tick():
    while True: ticks.append(1); await asyncio.sleep(0.01)
async def main(n): await asyncio.sleep(0.01); return n
task = asyncio.create_task(tick())
loop = asyncio.new_event_loop()
with asyncio.Runner() as runner: third = runner.run(main(3))
print(asyncio.run(main(1)), loop.run_until_complete(main(2)), third, asyncio.get_event_loop().run_until_complete(main(4)))
loop.close()`
    const run = await warm.supervisor.run([code, 'await asyncio.sleep(0.1)\nprint(len(ticks) > 1, task.cancel())'])
    expect([run.error, run.stdout]).toEqual([undefined, '1 2 3 4\nTrue True\n'])
  })

  it('is interrupted inside asyncio.run', async () => {
    const code = `
import asyncio, os, signal, threading
threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
asyncio.run(asyncio.sleep(60))`
    const run = await warm.supervisor.run(code)
    expect([run.done.outcome, run.error?.name]).toEqual(['error', 'KeyboardInterrupt'])
    expect(JSON.stringify(run.of('error'))).not.toContain('nested_asyncio')
    expect((await warm.supervisor.run('import asyncio\nasync def one(): return 1\nprint(asyncio.run(one()))')).stdout).toBe('1\n')
  })

  it('leaves no bytecode among the files of the result', async () => {
    const run = await warm.supervisor.run(
      'import py_compile\nopen("module_x.py", "w").write("x = 1")\npy_compile.compile("module_x.py", cfile="__pycache__/module_x.cpython-313.pyc")',
    )
    expect(run.done.files.map(({ path }) => path)).toEqual(['module_x.py'])
  })

  it('gives child programs the bytecode of the image, and keeps none of the modules of the user', async () => {
    const code = `
import os, subprocess, sys
open("module_y.py", "w").write("x = 1")
import module_y
child = "import module_y, numpy, os; print(numpy.__cached__, os.path.exists(numpy.__cached__), module_y.x)"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout, os.listdir("/tmp"), os.path.exists("__pycache__/module_y.cpython-313.pyc"))`
    expect((await warm.supervisor.run(code)).stdout).toMatch(
      /^\/usr\/local\/lib\/python3\.13\/dist-packages\/numpy\/__pycache__\/__init__\.cpython-313\.pyc True 1\n \[(?!.*pycache).*\] False\n$/,
    )
  })

  it('counts the processors of the sandbox', async () => {
    const code =
      'import multiprocessing, os, subprocess, sys\nprint(os.cpu_count(), multiprocessing.cpu_count(), subprocess.run([sys.executable, "-c", "import os; print(os.cpu_count())"], capture_output=True, text=True).stdout.strip())'
    expect((await warm.supervisor.run(code)).stdout).toBe('1 1 1\n')
  })

  it('learns from a failed import that there is no network and what is similar', async () => {
    const run = await warm.supervisor.run('import pandsa')
    expect(run.error).toMatchObject({
      name: 'ModuleNotFoundError',
      value: expect.stringMatching(
        /^No module named 'pandsa'\. `pandsa` is not installed and this sandbox has no network.* Similar: pandas/,
      ) as string,
    })
    const other = await warm.supervisor.run('import torch')
    expect(other.error?.value).toContain('Similar: sklearn')
    const larger = await warm.supervisor.run('import geopandas')
    expect(larger.error?.value).toContain('The image `full` has it, if this server offers that image.')
    const another = await warm.supervisor.run('import pint')
    expect(another.error?.value).not.toContain('Similar')
    const library = await warm.supervisor.run('import pandas as pd\npd.DataFrame({"a": [1]}).to_hdf("a.h5", key="a")')
    expect(library.error).toMatchObject({ name: 'ImportError', value: expect.stringContaining('`tables` is not installed') as string })
    const part = await warm.supervisor.run('import pandas.nothing')
    expect(part.error?.value).toBe("No module named 'pandas.nothing'")
    const handled = await warm.supervisor.run(
      'import importlib.util\nprint(importlib.util.find_spec("torch"))\ntry: import torch\nexcept ImportError as e: print(e)',
    )
    expect(handled.stdout).toBe("None\nNo module named 'torch'\n")
  })

  it.each(['!pip install pandas no-such-thing', '%pip install pandas no-such-thing', '!python -m pip install pandas no-such-thing'])(
    'learns from %s what is installed and that nothing else can be',
    async (code) => {
      const run = await warm.supervisor.run(code)
      const said = run.stdout + run.text('stderr')
      expect(said).toMatch(/Requirement already satisfied: pandas \(\d/)
      expect(said).toContain('ERROR: `no-such-thing` is not installed and this sandbox has no network, so it cannot be installed.')
    },
  )

  it('installs a package of the wheelhouse, which a failed import names', async () => {
    const code = (text: string) => fresh.supervisor.run(text)
    expect((await code('import tiny_wheel')).error?.value).toContain(
      '`pip install tiny_wheel` installs it from the wheelhouse of this sandbox.',
    )
    const installed = await code('%pip install "tiny-wheel>=1" numpy')
    expect(installed.stdout).toContain('Successfully installed tiny-wheel-1.0')
    expect((await code('import tiny_wheel\nprint(tiny_wheel.ANSWER)')).stdout).toBe('42\n')
    expect((await code('!python -c "import tiny_wheel; print(tiny_wheel.ANSWER)"')).stdout).toBe('42\n')
    const refused = await code('!pip install "numpy<1" no-such-thing')
    expect(refused.stdout + refused.text('stderr')).toMatch(
      /`numpy<1` cannot be installed[^]*`no-such-thing` is not installed and this sandbox has no network/,
    )
  })
})
