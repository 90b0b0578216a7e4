import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { explainFailure, runCommand } from '../command.ts'
import { SetupError, type Progress } from '../progress.ts'

const MODULE_FILES = ['go.mod', 'go.sum', 'precompile/main.go', 'runsc/main.go']
/** What the program is built from: another content is another build. */
export const RUNSC_SOURCES = MODULE_FILES.map((name) => join(import.meta.dirname, name))
const FILTERS = 'vendor/gvisor.dev/gvisor/runsc/boot/filter/filter_precompiled.go'

/** Builds runsc (runsc/main.go) with the compiled seccomp filters that gVisor's release builds have (precompile/main.go). Throws SetupError. */
export async function buildRunsc(program: string, env: NodeJS.ProcessEnv, progress: Progress): Promise<void> {
  progress('Building gVisor (runsc) from its Go modules: several minutes', 300)
  await mkdir(dirname(program), { recursive: true })
  const folder = await mkdtemp(join(dirname(program), 'build-'))
  try {
    for (const name of MODULE_FILES) await cp(join(import.meta.dirname, name), join(folder, name), { recursive: true })
    const go = inModule(folder, env)
    // A copy of gVisor: Go replaces no file in the folder of its modules.
    await go('mod', 'vendor')
    await writeFile(join(folder, FILTERS), await go('run', '-trimpath', './precompile', FILTERS))
    await go('build', '-trimpath', '-ldflags=-s -w', '-o', 'program', './runsc')
    await rename(join(folder, 'program'), program)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Go commands in this folder, which resolve with what they print and throw SetupError. */
const inModule =
  (cwd: string, env: NodeJS.ProcessEnv) =>
  async (...args: readonly string[]): Promise<string> => {
    const result = await runCommand('go', args, { cwd, env: { ...env, CGO_ENABLED: '0', GOFLAGS: '' } })
    if (result.code === 127)
      throw new SetupError('gVisor is built with Go, which is missing. Install Go 1.21 or newer and run the command again.')
    if (result.code !== 0)
      throw explainFailure('gVisor could not be built: the reason is above. Check that the Go module proxy can be reached.', result)
    return result.stdout
  }
