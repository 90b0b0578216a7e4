import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS, type CommandName } from '../../../scripts/commands.ts'
import { runCommand } from '../../../scripts/setup/command.ts'
import { USAGE } from '../../../scripts/usage.ts'
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

  it('lists the known commands for an unknown one', async () => {
    const { code, output } = await runCommand(process.execPath, [RUN, 'strat'])
    expect(code).toBe(1)
    expect(output).toContain('Unknown command strat. Known: start, test')
  })

  it('knows every command that package.json calls', () => {
    const called = Object.values(packageJson.scripts).map((script) => /bootstrap\.mjs (\S+)/.exec(script)?.[1])
    expect(called.filter((name) => name === undefined || !Object.hasOwn(COMMANDS, name))).toEqual([])
  })

  it.each(Object.keys(USAGE))('prints the help of %s and prepares nothing', async (name) => {
    const env = { ...process.env, DOCKER_HOST: 'unix:///nowhere/docker.sock' }
    const { code, stdout, output } = await runCommand(process.execPath, [RUN, name, '--help'], { env })
    expect([code, stdout]).toEqual([0, USAGE[name as CommandName]])
    expect(output).toBe(stdout)
  })

  it('has a help for each command whose program has no own help', () => {
    const withOwnHelp = ['bench', 'cli', 'cost', 'doctor', 'example', 'example:quickstart', 'fmt', 'pool-size', 'simulate', 'synth']
    expect([...Object.keys(USAGE), ...withOwnHelp].toSorted()).toEqual(Object.keys(COMMANDS).toSorted())
  })

  it('refuses an option that a command does not know with its usage', async () => {
    const { code, output } = await runCommand(process.execPath, [
      join(import.meta.dirname, '../../../scripts/print-image.ts'),
      '--flavour',
      'full',
    ])
    expect(code).toBe(2)
    expect(output).toContain("✗ Unknown option '--flavour'")
    expect(output).toContain(USAGE.image)
  })
})
