import { describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'
import { poolSizeFor } from '../../services/model/sandboxes/pool-size.ts'
import { context } from './synthesise.ts'

const good = context.cellblock as Record<string, Record<string, unknown>>
const withSandboxes = (changes: Record<string, unknown>) => ({ ...good, sandboxes: { ...good.sandboxes, ...changes } })

describe('readConfig', () => {
  it('accepts the settings of cdk.json', () => {
    expect(readConfig(good)).toMatchObject({ stage: 'prod', sandboxes: { architecture: 'X86_64' }, network: { cidr: '10.88.0.0/16' } })
  })
  it('computes the pool size from the demand as npm run pool-size does', () => {
    const { sandboxes } = readConfig(
      withSandboxes({ tiers: { '1g': { arrivalsPerMinute: 30 }, '4g': { arrivalsPerMinute: 30, waitSeconds: 30 } } }),
    )
    expect(sandboxes.tiers).toEqual({ '1g': { warm: 39 }, '4g': { warm: 21 } })
    expect(sandboxes.tiers['1g']?.warm).toBe(poolSizeFor({ arrivalsPerSecond: 0.5, startSeconds: 57, targetWaitSeconds: 0, share: 0.95 }))
  })
  it('accepts the settings as JSON text from `cdk -c`', () => {
    expect(readConfig(JSON.stringify({ ...good, stage: 'dev' })).stage).toBe('dev')
  })

  it.each([
    ['no settings', undefined, 'cellblock is missing. Correct it in cdk.json ("context").'],
    ['text that is not JSON', '{', "The context value 'cellblock' must be a JSON object."],
    ['a stage with capitals', { ...good, stage: 'Prod' }, 'cellblock.stage must be 1 to 16 lower-case letters'],
    ['no stage', { ...good, stage: undefined }, 'cellblock.stage must be 1 to 16 lower-case letters'],
    ['an unknown setting', { ...good, pool: 3 }, 'cellblock has an unknown setting: pool. Correct its name or remove it'],
    [
      'a pool with a size and a demand',
      withSandboxes({ tiers: { '1g': { warm: 1, arrivalsPerMinute: 5 } } }),
      'cellblock.sandboxes.tiers.1g must have either warm',
    ],
    [
      'the old name of a setting',
      withSandboxes({ tiers: { '1g': { warm: 1, warmMost: 5 } } }),
      'cellblock.sandboxes.tiers.1g has an unknown setting: warmMost (now warmMax).',
    ],
    ['a pool without a size', withSandboxes({ tiers: { '1g': {} } }), 'cellblock.sandboxes.tiers.1g must have either warm'],
    ['an unknown tier', withSandboxes({ tiers: { '2g': { warm: 1 } } }), 'cellblock.sandboxes.tiers'],
    ['no tier', withSandboxes({ tiers: {} }), 'cellblock.sandboxes.tiers must enable at least one memory tier of 1g, 4g, 16g, 64g'],
    ['a negative pool', withSandboxes({ tiers: { '1g': { warm: -1 } } }), 'cellblock.sandboxes.tiers.1g.warm must be at least 0 sandboxes'],
    [
      'a fraction of a sandbox',
      withSandboxes({ tiers: { '1g': { warm: 0.5 } } }),
      'cellblock.sandboxes.tiers.1g.warm must be a whole number of sandboxes',
    ],
    [
      'a processor that Fargate does not offer with the memory of the tier',
      withSandboxes({ tiers: { '1g': { warm: 0, vcpu: 1 } } }),
      'cellblock.sandboxes.tiers.1g.vcpu must be 0.5 or 0.25',
    ],
    ['more than 100 percent Spot', withSandboxes({ spotPercent: 101 }), 'cellblock.sandboxes.spotPercent must be at most 100 percent'],
    ['an unknown architecture', withSandboxes({ architecture: 'riscv' }), 'cellblock.sandboxes.architecture must be X86_64 or ARM64'],
    [
      'a model over plain HTTP',
      { ...good, models: { list: [{ name: 'm', baseUrl: 'http://models.example.com' }] } },
      'cellblock.models.list.0.baseUrl must be an https:// URL',
    ],
    [
      'a certificate of another Region',
      { ...good, api: { customDomain: { name: 'code.example.com', certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/a' } } },
      'must be the ARN of an ACM certificate in us-east-1',
    ],
    [
      'a wildcard origin',
      { ...good, api: { corsOrigins: ['*'] } },
      'cellblock.api.corsOrigins.0 must be an origin such as https://app.example.com',
    ],
    ['eight days of logs', { ...good, retention: { logDays: 8 } }, 'cellblock.retention.logDays must be 1, 3, 5, 7, 14'],
    ['a year of backups', { ...good, retention: { backupDays: 365 } }, 'cellblock.retention.backupDays must be at most 35 days'],
    ['a public range', { ...good, network: { cidr: '8.8.0.0/16' } }, 'cellblock.network.cidr must be a private IPv4 range'],
    ['an unknown log level', { ...good, logLevel: 'loud' }, 'cellblock.logLevel must be debug, info, warn or error'],
    [
      'a bootstrap qualifier with a hyphen',
      { ...good, deployment: { bootstrapQualifier: 'my-org' } },
      'cellblock.deployment.bootstrapQualifier must be 1 to 10 lower-case letters or digits',
    ],
    ['no budget', { ...good, operations: {} }, 'cellblock.operations.monthlyBudgetUsd must be a whole number of US dollars'],
    [
      'an invalid e-mail address',
      { ...good, operations: { monthlyBudgetUsd: 10, alarmEmail: 'me' } },
      'cellblock.operations.alarmEmail must be an e-mail address',
    ],
  ])('rejects %s with a sentence', (_, settings, sentence) => {
    expect(() => readConfig(settings)).toThrow(sentence)
  })
})
