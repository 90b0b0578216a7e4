import * as z from 'zod'
import { boundedList } from '../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../model/lazy-schema.ts'
import { HostPattern, POLICY_BOUNDS, policyFields, SecretName, smallPolicy } from '../model/network/policy-schema.ts'
import { SECRET_BOUNDS } from '../model/network/secret.ts'
import type { WantedNetwork } from '../operations/network/new-policy.ts'

export const secretHosts = lazySchema(() =>
  boundedList(HostPattern(), { min: 1, max: SECRET_BOUNDS.hosts }).openapi({ description: 'Hosts that may receive the value.' }),
)
export const secretValue = lazySchema(() => z.string().min(1, 'give a value').max(SECRET_BOUNDS.valueLength))

/** A policy, and values that only this container gets. */
export const NetworkBody = lazySchema(() =>
  z
    .strictObject({
      ...policyFields(),
      container_secrets: boundedList(z.strictObject({ name: SecretName(), hosts: secretHosts(), value: secretValue() }), {
        max: POLICY_BOUNDS.secrets,
      })
        .optional()
        .openapi({ description: 'Values for this container only. They are deleted with it, and replaced by the next policy.' }),
    })
    .refine((body) => smallPolicy[0]({ ...body, container_secrets: undefined }), smallPolicy[1])
    .openapi('NetworkPolicyBody'),
)

export const wantedOf = ({ container_secrets: secrets = [], ...policy }: Described<typeof NetworkBody>): WantedNetwork => ({
  policy,
  secrets,
})
