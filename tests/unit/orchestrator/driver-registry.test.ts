import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { singleImage } from '../../../services/model/containers/images.ts'
import { MEMORY_TIERS } from '../../../services/model/limits.ts'
import { SANDBOX_START_MS, startTimeoutMs } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { FUNCTION_ENV } from '../../../services/entries/aws/function-env.ts'
import { DEPLOYMENTS } from '../../../services/adapters/drivers/deployments.ts'
import { ARCHITECTURES, type DriverProfile } from '../../../services/adapters/drivers/driver-profile.ts'
import { DEPLOYED_DRIVERS, DRIVERS } from '../../../services/adapters/drivers/registry.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'

const SERVICES = join(import.meta.dirname, '../../../services')
/** A deployed driver has entries in these files, besides its folder. */
const ENTRIES = ['adapters/drivers/deployments.ts', 'adapters/drivers/registry.ts', 'entries/aws/function-env.ts']

const withoutComments = (code: string): string => code.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*/g, '')

describe('the driver registry', () => {
  it.each(Object.entries<DriverProfile>(DRIVERS))(
    'has prices of %s for every tier, up to its maximum',
    (name, { name: own, costPerSecond, prices }) => {
      expect(own).toBe(name)
      for (const tier of MEMORY_TIERS)
        for (const architecture of ARCHITECTURES) expect(costPerSecond(tier, { architecture })).toBeLessThanOrEqual(prices.maxUsdPerSecond)
    },
  )

  it('is the only place outside its folder that names the deployed driver', () => {
    const naming = readdirSync(SERVICES, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('adapters/drivers/fargate/'))
      .filter((file) => /fargate/i.test(withoutComments(readFileSync(join(SERVICES, file), 'utf8'))))
    expect(naming.toSorted()).toEqual(ENTRIES)
  })

  it('determines the values of SANDBOX_DRIVER', () => {
    expect(FUNCTION_ENV.SANDBOX_DRIVER.unwrap().options).toEqual([...DEPLOYED_DRIVERS])
    expect(FUNCTION_ENV.SANDBOX_DRIVER.parse(undefined)).toBe('fargate')
    expect(() => FUNCTION_ENV.SANDBOX_DRIVER.parse('docker')).toThrow('fargate')
  })

  it('creates no deployed driver without its variables, and names the missing one', () => {
    expect(() => DEPLOYMENTS.fargate.createDriver(singleImage('sandbox:1'))).toThrow('CLUSTER_ARN')
  })

  it('reads the change of a sandbox from events of the platform only', () => {
    expect(DEPLOYMENTS.fargate.readEvent({ 'detail-type': 'Scheduled Event' })).toBeNull()
  })
})

describe('the capabilities of a driver', () => {
  it('determine when a start is abandoned: after three times the typical time, and never before three minutes', () => {
    expect(startTimeoutMs(DRIVERS.docker.capabilities)).toBe(SANDBOX_START_MS)
    expect(startTimeoutMs(DRIVERS.fargate.capabilities)).toBe(180_000)
    expect(startTimeoutMs({ startMs: 120_000 })).toBe(360_000)
  })

  it('determine which sandboxes the run worker reaches', async () => {
    const link = createSandboxLink({ kinds: DRIVERS.fargate.capabilities.addressKinds })
    const request = { method: 'GET', target: '/health', headers: {} } as const
    await expect(link.request({ kind: 'exec', containerName: 'other' }, request, AbortSignal.timeout(1_000))).rejects.toMatchObject({
      name: 'LinkError',
      kind: 'refused',
    })
    await link.close()
  })
})
