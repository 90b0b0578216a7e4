import * as z from 'zod'
import { LOOPBACK_HOSTS } from '../../http/config.ts'
import { hostNameOf } from '../../http/public-url.ts'

const OFF = 'off'
/** Browsers resolve every name below it to the machine they run on, and treat each as a separate site. */
const THIS_MACHINE = 'localhost'

export const PORTS_VARIABLES = {
  /** The domain below which published ports of sandboxes have their origins, or `off`. */
  CELLBLOCK_PORTS_DOMAIN: z
    .string()
    .regex(/^[a-z0-9.-]+(?::\d{1,5})?$/i, 'must be a domain such as sandboxes.example.org, or off')
    .transform((domain) => domain.toLowerCase())
    .optional(),
} as const

/**
 * The domain of ports: by default that of this machine, and none for a server with a public address. Null: no ports. `problem`: a domain on which programs of
 * sandboxes could set cookies for the page.
 */
export function portsDomainOf(given: string | undefined, publicUrl: string | undefined): string | null | { readonly problem: string } {
  const own = publicUrl === undefined ? THIS_MACHINE : new URL(publicUrl).hostname
  const isLocal = LOOPBACK_HOSTS.includes(own)
  if (given === undefined) return isLocal ? THIS_MACHINE : null
  if (given === OFF) return null
  const name = hostNameOf(given)
  const isShared = name === own || name.endsWith(`.${own}`) || own.endsWith(`.${name}`)
  return isShared && !isLocal
    ? {
        problem: `CELLBLOCK_PORTS_DOMAIN must not share names with CELLBLOCK_PUBLIC_URL: a program on ${name} could set cookies for ${own}. Use another domain.`,
      }
    : given
}
