import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { explainFailure, runCommand, runPatiently } from '../../../scripts/setup/command.ts'

const MODULE = join(import.meta.dirname, '../../../scripts/setup/command.ts')

describe('runCommand', () => {
  it('answers with code and streams, and with 127 for a program that does not exist', async () => {
    expect(await runCommand('sh', ['-c', 'echo out; echo err >&2; exit 3'])).toMatchObject({ code: 3, stdout: 'out\n' })
    expect(await runCommand('no-such-program', [])).toMatchObject({ code: 127 })
  })

  it('ends a program that takes too long', async () => {
    expect(await runCommand('sleep', ['60'], { timeoutSeconds: 0.1 })).toMatchObject({ code: 124 })
  })

  it('does not wait for what such a program has started', async () => {
    const { code, stdout } = await runCommand('sh', ['-c', 'sleep 3600 & echo $!; wait'], { timeoutSeconds: 0.5 })
    expect(code).toBe(124)
    expect(process.kill(Number(stdout))).toBe(true)
  })
})

describe('runPatiently', () => {
  it('tries again a program that stands still, and takes a failure for what it is', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'patience-'))
    const program = 'if [ -e late ]; then echo done; exit 3; fi; exec sleep 60'
    const onLate = (): void => writeFileSync(join(cwd, 'late'), '', { flag: 'wx' })
    expect(await runPatiently('sh', ['-c', program], [0.1, 60, 60], { cwd, onLate })).toMatchObject({ code: 3, stdout: 'done\n' })
  })

  it('gives up after the last try', async () => {
    expect(await runPatiently('sleep', ['60'], [0.1, 0.1])).toMatchObject({ code: 124 })
  })
})

describe('endWithSignals', () => {
  it('ends the program that is being waited for, and this process with the usual exit code', async () => {
    const script = `const { endWithSignals, runCommand } = await import(${JSON.stringify(MODULE)})
      endWithSignals()
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

  it('keeps the beginning and the end of what the program said', () => {
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
