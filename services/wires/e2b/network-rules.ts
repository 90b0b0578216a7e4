import { z } from '@hono/zod-openapi'
import { boundedList, openObject } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import { NotOfferedError } from './errors.ts'

const MAX_RULES = 1_000
const destinations = lazySchema(() => boundedList(z.string().max(300), { max: MAX_RULES }).nullish())

/** E2B's rules for the network of a sandbox. */
export const NetworkRules = lazySchema(() =>
  openObject({
    allowOut: destinations(),
    denyOut: destinations(),
    allowPublicTraffic: z.boolean().nullish(),
    rules: z.unknown().optional(),
    egressProxy: z.unknown().optional(),
  }),
)

/**
 * Accepts rules that a sandbox without a network fulfils: those that only forbid. Throws NotOfferedError for a rule that lets traffic pass. Clients
 * that say nothing about public addresses send the default.
 */
export function refuseNetworkAccess(rules: Described<typeof NetworkRules> | null | undefined): void {
  const { allowOut, rules: transforms, egressProxy } = rules ?? {}
  const given = (value: unknown): boolean => value !== undefined && value !== null
  if ((allowOut ?? []).length === 0 && !given(egressProxy) && Object.keys(transforms ?? {}).length === 0) return
  throw new NotOfferedError(
    'Sandboxes have no network. Rules that forbid traffic are accepted; omit `allowOut`, `rules` and `egressProxy` of `network`.',
  )
}
