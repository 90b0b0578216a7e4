import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { startRunBench, type RunBench } from '../../support/run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await startRunBench({ image: inject('sandboxImage'), stage: `results-test-${process.pid}` })
  await bench.warm()
})
afterAll(() => bench.stop())

it('a result contains displays with invalid header names and files changed through a memory mapping', async () => {
  const { id } = await bench.newContainer()
  const filesOf = async (code: string) => (await bench.run(id, code)).result?.files.map(({ path }) => path)
  const shown = await bench.run(id, 'from IPython.display import display\ndisplay({"text/x\\ny": "a" * 70_000}, raw=True)')
  expect(shown).toMatchObject({
    status: 'succeeded',
    result: { cells: [{ outputs: [{ data: { 'cellblock/ref': { bytes: 70_000, mime: 'text/x\ny' } } }] }] },
  })

  expect(await filesOf('import numpy as np\nnp.zeros(4096).tofile("m.bin")')).toEqual(['m.bin'])
  const open = 'm = np.memmap("m.bin", dtype="float64", mode="r+", shape=4096)\n'
  expect(await filesOf(`${open}m += 1\nm.flush()\ndel m`)).toEqual(['m.bin'])
  expect(await filesOf(`${open}print(m[0])`)).toEqual([])
  expect(await filesOf('m[:] = m + 1')).toEqual(['m.bin'])
  expect(await filesOf('m[:] = m + 1; del m')).toEqual(['m.bin'])
  expect(await filesOf('print(np.memmap("m.bin", mode="r")[0])')).toEqual([])
})
