import * as z from 'zod'
import type { ApiConfig } from '../../http/config.ts'

/** Variables of the environment that this wire reads. */
export const e2bSettings = {
  /** The domain below which clients find `api.<domain>` and `<port>-<sandbox>.<domain>`; a proxy with a wildcard certificate passes them on. */
  CELLBLOCK_E2B_DOMAIN: z
    .string()
    .regex(/^[a-z0-9.-]+(?::\d{1,5})?$/i, 'must be a domain such as sandboxes.example.org')
    .optional(),
  /** Further names of images for clients that ask for a template, `name=image` with commas between. */
  CELLBLOCK_E2B_TEMPLATES: z
    .string()
    .max(8_192)
    .regex(
      /^[^\s,=]{1,200}=[a-z][a-z0-9_-]{0,39}(?:,[^\s,=]{1,200}=[a-z][a-z0-9_-]{0,39})*$/,
      'must be a list such as my-template=standard,team/reports:v2=full',
    )
    .optional(),
} as const

/** Clients without a domain make addresses of E2B's own. This one leads nowhere (RFC 2606). */
export const NO_DOMAIN = 'sandboxes.invalid'

/** Undefined: clients use the path of the wire. */
export const domainOf = ({ wireSettings }: Pick<ApiConfig, 'wireSettings'>): string | undefined => wireSettings['CELLBLOCK_E2B_DOMAIN']

/** The images of templates that the operator named. */
export const aliasesOf = ({ wireSettings }: Pick<ApiConfig, 'wireSettings'>): ReadonlyMap<string, string> =>
  new Map(
    (wireSettings['CELLBLOCK_E2B_TEMPLATES'] ?? '').split(',').flatMap((entry) => {
      const [alias, image] = entry.split('=')
      return alias !== undefined && image !== undefined ? [[alias, image] as const] : []
    }),
  )
