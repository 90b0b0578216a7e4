import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, type ExpectStatic } from 'vitest'
import { startServer, type LocalServerProcess } from '../support/local-server.ts'

const POOL = 1
let server: LocalServerProcess
beforeAll(async () => {
  server = await startServer({ env: { CELLBLOCK_POOL: String(POOL), CELLBLOCK_IDLE_SECONDS: '2' } })
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
})

const run = promisify(execFile)
/** The number of sandboxes of this server on the engine. */
async function sandboxes(): Promise<number> {
  const { stdout } = await run('docker', ['ps', '-aq', '--filter', `label=cellblock.stage=${server.stage}`])
  return stdout.split('\n').filter(Boolean).length
}
/** Waits until every container hibernates and only the pool remains, including those of concurrent tests. */
const waitUntilHibernated = (expect: ExpectStatic) => expect.poll(sandboxes, { timeout: 120_000, interval: 500 }).toBe(POOL)

const SETUP = `
import math as m
import numpy as np, pandas as pd
import matplotlib.pyplot as plt
frame = pd.DataFrame({"a": np.arange(12_500_000)})
items = [1, 2]
same = items
factor = 5
def scale(x): return x * factor
double = lambda x: 2 * x
class Box:
    def __init__(self): self.inside = items
box = Box()
figure, axes = plt.subplots()
axes.plot([1, 2, 3])
generator = (i for i in range(3))
open("notes.txt", "w").write("kept")
`
const CHECK = `
print(int(frame.a.sum()), frame.memory_usage(deep=True).sum() >= 100_000_000)
print(same is items, box.inside is items, isinstance(box, Box))
print(scale(2), double(4), m.floor(2.5), open("notes.txt").read())
print(len(axes.lines), len(figure.axes))
print("generator" in globals())
`
const CHECKED = '78124993750000 True\nTrue True True\n10 8 2 kept\n1 1\nFalse\n'

describe.concurrent('an idle container', () => {
  it('releases its sandbox, is restored with its files and variables, and reports lost values once', async ({ expect }) => {
    const container = await server.native.createContainer()
    expect(await server.native.run(container, SETUP)).toMatchObject({ status: 'succeeded', lost: [] })
    await waitUntilHibernated(expect)

    const woken = await server.native.run(container, CHECK)
    expect(woken).toMatchObject({ status: 'succeeded', stdout: CHECKED, files: [] })
    expect(woken.lost.map((lost) => lost.what)).toEqual(['variable generator'])
    expect(woken.lost[0]?.reason).toContain('generator')
    expect(await server.native.run(container, 'factor = 7; print(scale(2))')).toMatchObject({ stdout: '14\n', lost: [] })

    await waitUntilHibernated(expect)
    expect(await server.native.run(container, 'print(scale(2), int(frame.a.sum()))')).toMatchObject({
      stdout: '14 78124993750000\n',
      lost: [],
    })
  }, 240_000)

  it('is restored by a response of the OpenAI wire', async ({ expect }) => {
    const { id } = await server.openai.containers.create({ name: 'chat' })
    await server.native.run(id, 'answer = 6 * 7')
    await waitUntilHibernated(expect)
    const response = await server.openai.responses.create({
      model: 'demo',
      input: '```python\nprint(answer)\n```',
      tools: [{ type: 'code_interpreter', container: id }],
      include: ['code_interpreter_call.outputs'],
    })
    expect(response.status).toBe('completed')
    const call = response.output.find((item) => item.type === 'code_interpreter_call')
    expect(call?.outputs).toMatchObject([{ type: 'logs', logs: '42' }])
  }, 180_000)

  it('loads a snapshot inside its sandbox only: a harmful one is reported, and the server keeps running', async ({ expect }) => {
    const container = await server.native.createContainer()
    await server.native.run(
      container,
      'kept = 1\nclass Trap:\n  def __reduce__(self):\n    import os\n    return (os._exit, (3,))\ntrap = Trap()',
    )
    await waitUntilHibernated(expect)
    const woken = await server.native.run(container, 'print("alive")')
    expect(woken).toMatchObject({ status: 'succeeded', stdout: 'alive\n' })
    expect(woken.lost.map((lost) => lost.what)).toContain('variables')
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  }, 180_000)
})
