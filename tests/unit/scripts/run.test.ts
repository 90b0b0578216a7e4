import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../scripts/commands.ts'
import { runCommand } from '../../../scripts/setup/command.ts'
import packageJson from '../../../package.json' with { type: 'json' }

const RUN = join(import.meta.dirname, '../../../scripts/run.ts')

describe('run.ts', () => {
  it('ends with a sentence and exit code 1 when no engine answers and none may be installed', async () => {
    const env = { ...process.env, DOCKER_HOST: 'unix:///nowhere/docker.sock' }
    const { code, output, stdout } = await runCommand(process.execPath, [RUN, 'start', '--no-install'], { env })
    expect(code).toBe(1)
    expect(output).toContain('✗ No Docker engine answers at DOCKER_HOST=unix:///nowhere/docker.sock.')
    expect(output).not.toMatch(/^\s+at /m)
    expect(stdout).toBe('')
  })

  it('names the commands it knows when it is given another', async () => {
    const { code, output } = await runCommand(process.execPath, [RUN, 'strat'])
    expect(code).toBe(1)
    expect(output).toContain('Unknown command strat. Known: start, test')
  })

  it('knows every command that package.json calls', () => {
    const called = Object.values(packageJson.scripts).map((script) => /bootstrap\.mjs (\S+)/.exec(script)?.[1])
    expect(called.filter((name) => name === undefined || !Object.hasOwn(COMMANDS, name))).toEqual([])
  })
})
