import { afterAll, beforeAll, expect, it } from 'vitest'
import { startReadySandbox, type TestSandbox } from './start-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => void (sandbox = await startReadySandbox({ limits: { preload: ['numpy', 'pandas', 'matplotlib.pyplot'] } })))
afterAll(() => sandbox[Symbol.asyncDispose]())

const print = async (code: string): Promise<string> => (await sandbox.supervisor.run(code)).stdout

/** Memory that the kernel does not share with its zygote, kB. */
const PRIVATE = 'print(next(line.split()[1] for line in open("/proc/self/smaps_rollup") if line.startswith("Private_Dirty:")))'

it('shares the preloaded modules and its own construction with the zygote', async () => {
  expect(Number(await print(PRIVATE))).toBeLessThan(9_000)
})

it('starts in the data folder and owns its files, also as a replacement', async () => {
  const state = `
import os
shell = get_ipython()
owned = [os.stat(path).st_uid == os.getuid() for path in (shell.ipython_dir, shell.profile_dir.location, shell.profile_dir.startup_dir)]
shell.db["kept"] = 1
print(_dh, shell.starting_dir, owned, shell.db["kept"], shell.kernel.session.channel.is_forked)`
  const expected = `[PosixPath('/mnt/data')] /mnt/data [True, True, True] 1 False\n`
  expect(await print(state)).toBe(expected)
  await sandbox.supervisor.run('import shutil\nshutil.rmtree(shell.profile_dir.location)\nos._exit(0)')
  expect(await print(state)).toBe(expected)
})
