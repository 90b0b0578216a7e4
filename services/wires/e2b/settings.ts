import * as z from 'zod'
import type { ApiConfig } from '../../http/config.ts'

/** Variables of the environment that this wire reads. */
export const e2bSettings = {
  /** The domain below which clients find `api.<domain>` and `<port>-<sandbox>.<domain>`; a proxy with a wildcard certificate passes them on. */
  CELLBLOCK_E2B_DOMAIN: z
    .string()
    .regex(/^[a-z0-9.-]+(?::\d{1,5})?$/i, 'must be a domain such as sandboxes.example.org')
    .optional(),
} as const

/** Clients without a domain make addresses of E2B's own. This one leads nowhere (RFC 2606). */
export const NO_DOMAIN = 'sandboxes.invalid'

/** Undefined: clients use the path of the wire. */
export const domainOf = ({ wireSettings }: Pick<ApiConfig, 'wireSettings'>): string | undefined => wireSettings['CELLBLOCK_E2B_DOMAIN']
