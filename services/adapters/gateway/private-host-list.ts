import { isIP } from 'node:net'
import * as z from 'zod'
import { normalizeTarget } from '../../model/network/host.ts'
import type { PrivateHost } from './messages.ts'

const PRIVATE_HOST = 'must be host names, each alone or with an address, such as pypi.example.com=10.0.0.5:8443'

/** `name`, `name=address` or `name=address:port`, with commas between them. */
export const privateHostList = z.string().transform((text, context): Readonly<Record<string, PrivateHost>> => {
  const hosts: Record<string, PrivateHost> = {}
  for (const entry of text.split(',')) {
    const [, name = '', address, port] = /^([^=]+?)(?:=(\[[^\]]+\]|[^:\s]+)(?::(\d{1,5}))?)?$/.exec(entry.trim()) ?? []
    const host = normalizeTarget(name.trim())
    const plain = address?.replace(/^\[|\]$/g, '')
    if (host === null || (plain !== undefined && isIP(plain) === 0)) {
      context.issues.push({ code: 'custom', message: PRIVATE_HOST, input: text })
      return z.NEVER
    }
    hosts[host] = { ...(plain !== undefined && { address: plain }), ...(port !== undefined && { port: Number(port) }) }
  }
  return hosts
})
