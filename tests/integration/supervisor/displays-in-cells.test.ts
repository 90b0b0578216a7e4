import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

const PNG = 'image/png'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await startReadySandbox()
  await sandbox.supervisor.run('import matplotlib.pyplot as plt, pandas as pd\nfrom IPython.display import display')
})
afterAll(() => sandbox[Symbol.asyncDispose]())

type Bundle = Readonly<Record<string, unknown>>
const run = async (code: string) => sandbox.supervisor.run(code)
const bundlesOf = (done: Awaited<ReturnType<typeof run>>): Bundle[] => done.of('display').map((event) => event['data'] as Bundle)
const shown = async (code: string): Promise<Bundle[]> => bundlesOf(await run(code))

describe('a figure', () => {
  it.each(['fig', 'plt.gcf()', 'display(fig)', 'display(fig); fig.savefig("f.png")'])('is shown once by %s', async (last) => {
    const bundles = await shown(`fig, ax = plt.subplots(); ax.plot([1, 2]); ${last}`)
    expect(bundles.map((bundle) => typeof bundle[PNG])).toEqual(['string'])
  })

  it('is shown again by the end of the cell if it changed after its display', async () => {
    const [first, second, ...more] = await shown('fig, ax = plt.subplots(); ax.plot([1, 2]); display(fig); ax.plot([2, 1]);')
    expect(more).toEqual([])
    expect(second?.[PNG]).toBeTypeOf('string')
    expect(second?.[PNG]).not.toBe(first?.[PNG])
  })

  it('of an earlier cell can be drawn on and shown', async () => {
    const [before] = await shown('fig, ax = plt.subplots(); ax.plot([1, 2]); fig')
    const later = await shown('ax.plot([2, 1]); fig')
    expect(later).toHaveLength(1)
    expect(later[0]?.[PNG]).not.toBe(before?.[PNG])
  })

  it('without axes is not shown', async () => {
    expect(await shown('plt.figure();')).toEqual([])
  })

  it('that is drawn step by step stays open, in one display with its last state', async () => {
    const code =
      'fig, ax = plt.subplots(); plt.ion()\nfor n in range(3):\n    ax.plot([1, n]); plt.draw(); plt.pause(0.01)\nprint(len(ax.lines))'
    const steps = await run(code)
    expect(steps.text('stdout')).toBe('3\n')
    expect(bundlesOf(steps)).toHaveLength(1)
    expect(steps.of('update_display')).toHaveLength(1)
  })

  it.each([
    ['a formula that cannot be parsed', 'plt.title("bad $x^$")', 'cannot parse the formula'],
    ['TeX without its program', 'plt.rc("text", usetex=True); plt.title("a $x^2$")', 'without usetex'],
  ])('with %s is drawn nevertheless, with one warning', async (_, code, warning) => {
    const done = await run(`plt.plot([1, 2]); ${code};`)
    expect(bundlesOf(done).map((bundle) => typeof bundle[PNG])).toEqual(['string'])
    expect(done.text('stderr').split(warning)).toHaveLength(2)
    expect(done.of('error')).toEqual([])
  })

  it('as SVG has a PNG beside it', async () => {
    const [bundle, ...more] = await shown('%config InlineBackend.figure_format = "svg"\nplt.plot([1, 2]); plt.gcf()')
    await run('%config InlineBackend.figure_format = "png"')
    expect(more).toEqual([])
    expect(bundle).toMatchObject({ 'image/svg+xml': expect.stringContaining('<svg'), [PNG]: expect.stringMatching(/^iVBOR/) })
  })
})

describe('an object', () => {
  it('whose picture fails says so on stderr', async () => {
    const done = await run('class Broken:\n    def _repr_png_(self): raise ValueError("no picture")\nBroken()')
    expect(done.text('stderr')).toContain('ValueError: no picture')
  })

  it('with an empty text is no output', async () => {
    expect(await shown('class Empty:\n    def __repr__(self): return ""\nEmpty()')).toEqual([])
  })
})

it('text behind a wrapper of the standard streams arrives with its cell', async () => {
  const wrapped = 'import sys, io; sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8"); print("Hello")'
  expect((await run(wrapped)).text('stdout')).toBe('Hello\n')
  expect((await run(wrapped)).text('stdout')).toBe('Hello\n')
})

it('cut code names what was not closed', async () => {
  expect((await run('x = [1, 2')).error).toMatchObject({ name: 'SyntaxError', value: expect.stringContaining("'[' was never closed") })
})

describe('code that asks for input', () => {
  it.each(['input("name?")', 'import getpass; getpass.getpass()', 'breakpoint()', 'import pdb; pdb.set_trace()'])(
    'reports that there is no keyboard: %s',
    async (code) => {
      const [error] = (await run(code)).of('error')
      expect(error?.['value']).toContain('This sandbox has no keyboard')
      expect(String(error?.['traceback'])).not.toContain('/usr/')
    },
  )

  it('ends at the end of the input', async () => {
    expect((await run('try:\n    while True: input()\nexcept EOFError: print("ended")')).text('stdout')).toBe('ended\n')
  })
})

it('a group of errors has its traceback in the error', async () => {
  const done = await run('raise ExceptionGroup("g", [ValueError(1), TypeError("x")])')
  expect(String(done.of('error')[0]?.['traceback'])).toMatch(/ValueError: 1[^]*TypeError: x/)
  expect(done.text('stderr')).toBe('')
})
