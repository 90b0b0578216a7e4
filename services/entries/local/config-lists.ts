import { isIP } from 'node:net'
import * as z from 'zod'
import type { PrivateHost } from '../../adapters/gateway/messages.ts'
import { IMAGE_NAME } from '../../model/containers/images.ts'
import { normalizeHost } from '../../model/network/host.ts'

/** `name=value` pairs with commas between them. */
const pairs = (text: string): readonly (readonly [string, string])[] =>
  text.split(',').map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
export const imageList = z
  .string()
  .transform((text) => Object.fromEntries(pairs(text)))
  .pipe(z.record(z.string().regex(IMAGE_NAME), z.string().min(1)))
  .describe('name=reference')
export const imagePoolList = z
  .string()
  .transform((text) => Object.fromEntries(pairs(text)))
  .pipe(
    z.record(
      z.string().regex(IMAGE_NAME),
      z
        .string()
        .regex(/^\d{1,2}$/, 'must be name=size pairs, such as slim=1')
        .transform(Number),
    ),
  )

const PRIVATE_HOST = 'must be host names, each alone or with an address, such as pypi.example.com=10.0.0.5:8443'

/** `name`, `name=address` or `name=address:port`, with commas between them. */
export const privateHostList = z.string().transform((text, context): Readonly<Record<string, PrivateHost>> => {
  const hosts: Record<string, PrivateHost> = {}
  for (const entry of text.split(',')) {
    const [, name = '', address, port] = /^([^=]+?)(?:=(\[[^\]]+\]|[^:\s]+)(?::(\d{1,5}))?)?$/.exec(entry.trim()) ?? []
    const host = normalizeHost(name.trim())
    const plain = address?.replace(/^\[|\]$/g, '')
    if (host === null || (plain !== undefined && isIP(plain) === 0)) {
      context.issues.push({ code: 'custom', message: PRIVATE_HOST, input: text })
      return z.NEVER
    }
    hosts[host] = { ...(plain !== undefined && { address: plain }), ...(port !== undefined && { port: Number(port) }) }
  }
  return hosts
})
