import { z } from '@hono/zod-openapi'
import { EXECUTION_LIMITS, limitName, NUMERIC_LIMITS, SANDBOX_LIMITS, type ContainerLimits } from '../../core/tenants/tenant-limits.ts'

const NAMES = Object.keys({ ...EXECUTION_LIMITS, ...SANDBOX_LIMITS }) as (keyof ContainerLimits)[]

/** Numbers by the names of `/v1/limits`. A name that is not known is refused: a limit that nobody keeps would be a promise. */
export const ContainerLimitsBody = z
  .strictObject(
    Object.fromEntries(
      NAMES.map((name) => {
        const { min, max } = NUMERIC_LIMITS[name] as { min: number; max: number }
        return [limitName(name), z.int().min(min, `give at least ${min}`).max(max, `give at most ${max}`).optional()]
      }),
    ),
  )
  .openapi('ContainerLimits', { description: 'Less than the account has, by the names of `/v1/limits`. What is left out is as there.' })

export const containerLimitsOf = (body: Readonly<Record<string, unknown>> | null | undefined): ContainerLimits | undefined => {
  if (body === null || body === undefined) return undefined
  const given = NAMES.flatMap((name) => {
    const value = body[limitName(name)]
    return typeof value === 'number' ? [[name, value] as const] : []
  })
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

export const renderContainerLimits = (limits: ContainerLimits): Record<string, number> =>
  Object.fromEntries(Object.entries(limits).map(([name, value]) => [limitName(name), value]))
