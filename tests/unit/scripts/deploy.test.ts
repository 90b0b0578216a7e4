import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../../scripts/setup/command.ts'

/** A home without AWS settings, so that nothing of this machine's owner is found. */
let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'cellblock-home-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

const command = (script: string, args: readonly string[], env: Record<string, string>) =>
  runCommand(process.execPath, ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '../../../scripts', script), ...args], {
    env: { PATH: process.env['PATH'], HOME: home, AWS_EC2_METADATA_DISABLED: 'true', ...env },
  })

describe.each(['deploy.ts', 'destroy.ts'])('%s', (script) => {
  it('names AWS_REGION if there is no Region', async () => {
    const { code, output } = await command(script, [], { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
    expect([code, output.trim()]).toEqual([1, expect.stringContaining('✗ No AWS Region is set. Set AWS_REGION')])
  })

  it('names the settings if there are no credentials', async () => {
    const { code, output } = await command(script, [], { AWS_REGION: 'eu-west-1' })
    expect([code, output.trim()]).toEqual([1, expect.stringContaining('✗ No AWS credentials were found. Run `aws configure sso`')])
  })
})

it('removes data only for the stage that was named', async () => {
  const { code, output } = await command('destroy.ts', ['--remove-data', 'other'], { AWS_REGION: 'eu-west-1' })
  expect([code, output.trim()]).toEqual([
    1,
    '✗ --remove-data deletes the data of a stage and needs its name: cdk.json says "prod", not "other".',
  ])
})
