import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { explainFailure, runCommand, runWithRetries } from '../../../scripts/setup/command.ts'

const MODULE = join(import.meta.dirname, '../../../scripts/setup/command.ts')

describe('runCommand', () => {
  it('returns code and streams, and 127 for a program that does not exist', async () => {
    expect(await runCommand('sh', ['-c', 'echo out; echo err >&2; exit 3'])).toMatchObject({ code: 3, stdout: 'out\n' })
    expect(await runCommand('no-such-program', [])).toMatchObject({ code: 127 })
  })

  it('kills a program after its time-out', async () => {
    expect(await runCommand('sleep', ['60'], { timeoutSeconds: 0.1 })).toMatchObject({ code: 124 })
  })

  it('does not wait for child processes of a killed program', async () => {
    const { code, stdout } = await runCommand('sh', ['-c', 'sleep 3600 & echo $!; wait'], { timeoutSeconds: 0.5 })
    expect(code).toBe(124)
    expect(process.kill(Number(stdout))).toBe(true)
  })
})

describe('runWithRetries', () => {
  it('retries a program that hangs, and returns the failure of one that exits', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'cellblock-retries-'))
    const program = 'if [ -e late ]; then echo done; exit 3; fi; exec sleep 60'
    const onTimeout = (): void => writeFileSync(join(cwd, 'late'), '', { flag: 'wx' })
    expect(await runWithRetries('sh', ['-c', program], { timeoutsSeconds: [0.1, 60, 60], cwd, onTimeout })).toMatchObject({
      code: 3,
      stdout: 'done\n',
    })
  })

  it('returns the time-out of the last attempt', async () => {
    expect(await runWithRetries('sleep', ['60'], { timeoutsSeconds: [0.1, 0.1] })).toMatchObject({ code: 124 })
  })
})

describe('exitOnSignals', () => {
  it('stops the running program and exits with 128 plus the number of the signal', async () => {
    const script = `const { exitOnSignals, runCommand } = await import(${JSON.stringify(MODULE)})
      exitOnSignals()
      await runCommand('sh', ['-c', 'echo $$; exec sleep 60'], { onLine: console.log })`
    const setup = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [pid] = (await once(createInterface({ input: setup.stdout }), 'line')) as [string]
    setup.kill('SIGTERM')
    expect(await once(setup, 'exit')).toEqual([143, null])
    await expect.poll(() => isAlive(Number(pid))).toBe(false)
  })
})

describe('explainFailure', () => {
  const failed = (output: string) => ({ code: 1, stdout: '', output })

  it('keeps the beginning and the end of the output', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`)
    expect(explainFailure('It failed.', failed(lines.join('\n'))).message).toMatch(/^line 0\n[\s\S]*…\n[\s\S]*line 99\n\nIt failed\.$/)
  })

  it('recognises a full disk', () => {
    for (const said of [
      'write /x: no space left on device',
      'npm error code ENOSPC',
      "E: You don't have enough free space in /var/cache/apt/archives/.",
    ])
      expect(explainFailure('It failed.', failed(said)).message).toContain('The disk is full')
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
