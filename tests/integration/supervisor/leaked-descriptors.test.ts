import { expect, it } from 'vitest'
import { startReadySandbox } from './start-sandbox.ts'

const LEAK = `
import os
kept, held = {"a": 1}, []
class Box:
    value = 2
box = Box()
try:
    while True: held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error: print(error.errno)
`

it('variables survive code that leaks every descriptor', async () => {
  await using from = await startReadySandbox()
  await using to = await startReadySandbox()
  expect((await from.supervisor.run(LEAK)).stdout).toBe('24\n')
  const snapshot = await from.supervisor.call('POST', '/snapshot')
  const restored = await to.supervisor.call('POST', '/restore', snapshot.body)
  expect((JSON.parse(restored.body.toString()) as { lost: readonly { what: string }[] }).lost.map(({ what }) => what)).toEqual([
    'temporary files',
    'environment',
  ])
  expect((await to.supervisor.run('print(kept, box.value)')).stdout).toBe("{'a': 1} 2\n")
})
