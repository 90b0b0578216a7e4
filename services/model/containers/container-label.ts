import { ID_PREFIXES } from '../ids.ts'
import type { Container } from './container.ts'

/**
 * The name of a container in host names, which have lower-case letters and digits only: the ids of the container and of its tenant without their prefixes. Nothing else in an
 * address names the tenant.
 */
export const labelOf = ({ id, tenant }: Pick<Container, 'id' | 'tenant'>): string =>
  id.slice(ID_PREFIXES.container.length) + tenant.slice(ID_PREFIXES.tenant.length)

export interface NamedContainer {
  readonly tenant: string
  readonly containerId: string
}

/** Null for text that names no container. */
export function parseLabel(label: string): NamedContainer | null {
  const parts = /^([0-9a-z]{26})([0-9a-z]{20,30})$/.exec(label)
  return parts === null ? null : { containerId: `${ID_PREFIXES.container}${parts[1]}`, tenant: `${ID_PREFIXES.tenant}${parts[2]}` }
}

/** A port in the name of its host: `8501-<label>.<domain>`. */
export interface PortHost extends NamedContainer {
  readonly port: number
  readonly label: string
  /** What follows the label. */
  readonly domain: string
}

/** `name` is in lower case and without the port of the server. Null for every other host name. */
export function parsePortHost(name: string): PortHost | null {
  const [, digits = '', label = '', domain = ''] = /^([1-9]\d{0,4})-([0-9a-z]+)\.(.+)$/.exec(name) ?? []
  const container = parseLabel(label)
  const port = Number(digits)
  return container === null || port > MAX_PORT ? null : { ...container, port, label, domain }
}

/** The parameter of an address with a link to a port. No program gets it. */
export const LINK_PARAMETER = 'cellblock_link'
export const MAX_PORT = 65_535

/** The origin of a port: below `domain`, with the scheme of the server's own address and, if the domain names no port, with its port. */
export function portOrigin(
  { container, port }: { readonly container: Pick<Container, 'id' | 'tenant'>; readonly port: number },
  domain: string,
  publicUrl: string,
): string {
  const { protocol } = new URL(publicUrl)
  return `${protocol}//${port}-${labelOf(container)}.${withPort(domain, publicUrl)}`
}

/** A domain with the port of the server's own address, unless it names one. */
export function withPort(domain: string, publicUrl: string): string {
  const { port } = new URL(publicUrl)
  return domain.includes(':') || port === '' ? domain : `${domain}:${port}`
}
