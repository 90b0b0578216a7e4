import type { Sandbox } from '../../model/sandboxes/sandbox.ts'

type Claim = NonNullable<Sandbox['claimedBy']>

/** The sandboxes that containers use, by tenant. */
export function claimedByTenant<S extends Pick<Sandbox, 'state' | 'claimedBy'>>(
  sandboxes: readonly S[],
): ReadonlyMap<string, readonly (S & { readonly claimedBy: Claim })[]> {
  const claimed = sandboxes.flatMap((sandbox) =>
    sandbox.state === 'claimed' && sandbox.claimedBy !== null ? [{ ...sandbox, claimedBy: sandbox.claimedBy }] : [],
  )
  return Map.groupBy(claimed, ({ claimedBy }) => claimedBy.tenant)
}
