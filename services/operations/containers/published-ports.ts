import { createHash, createHmac, randomBytes } from 'node:crypto'
import { BoundedCache, readThrough } from '../../model/bounded-cache.ts'
import { ServiceError } from '../../model/errors.ts'
import { isSameSecret } from '../../model/same-secret.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Table } from '../../ports/table.ts'
import type { LimitReader } from '../tenancy/limit-reader.ts'
import { SharedRow } from '../tenancy/shared-row.ts'

/** A link opens a port once, within this time, milliseconds. */
const LINK_MS = 10 * 60_000
/** Links of one tenant that were not used; beyond it the oldest is dropped. */
const MAX_LINKS = 100
/** Another process notices the end of a publication within this time, milliseconds. */
const CACHE_MS = 2_000
const MAX_TENANTS = 1_000
const SECRET_BYTES = 24

/** A port of a container that visitors with a credential reach. */
export interface PublishedPort {
  readonly containerId: string
  readonly port: number
  /** Random; what visitors present is derived from it. Another publication of the port has another one. */
  readonly secret: string
  readonly publishedAt: number
  readonly expiresAt: number
}

interface Link {
  readonly hash: string
  readonly place: string
  readonly expiresAt: number
}

/** The row of a tenant. */
interface Published {
  /** By container and port. */
  readonly ports: Readonly<Record<string, PublishedPort>>
  /** Oldest first. */
  readonly links: readonly Link[]
}

interface Place {
  readonly tenant: string
  readonly containerId: string
  readonly port: number
}

interface OpenedPort {
  readonly published: PublishedPort
  readonly link: string
  readonly linkExpiresAt: number
  readonly token: string
}

interface PublishedPortsOptions {
  readonly table: Pick<Table, 'sharedRows' | 'containers'>
  readonly limits: Pick<LimitReader, 'of'>
  readonly clock: Clock
}

const placeOf = ({ containerId, port }: Omit<Place, 'tenant'>): string => `${containerId}:${port}`
const hashOf = (link: string): string => createHash('sha256').update(link).digest('hex')

/** The credentials of a published port: a browser has the cookie, a program sends the token. */
export const credentialOf = ({ secret }: PublishedPort, kind: 'cookie' | 'token'): string =>
  createHmac('sha256', secret).update(kind).digest('base64url')

export const isCredential = (published: PublishedPort, kind: 'cookie' | 'token', given: string): boolean =>
  isSameSecret(given, credentialOf(published, kind))

/** The published ports of every tenant, one row for each. */
export class PublishedPorts {
  readonly #options: PublishedPortsOptions
  readonly #rows: SharedRow<Published>
  readonly #read = new BoundedCache<string, Promise<Published>>(MAX_TENANTS)

  constructor(options: PublishedPortsOptions) {
    this.#options = options
    this.#rows = new SharedRow<Published>(options.table.sharedRows, 'published_ports', { ports: {}, links: [] })
  }

  /** Publishes a port, or extends its publication, and makes a link that opens it once. `token` is the credential of programs. Throws ServiceError `limit_exceeded`. */
  async publish(place: Place, seconds: number): Promise<OpenedPort> {
    const { tenant, containerId, port } = place
    const { publishedPorts: max } = await this.#options.limits.of(tenant)
    const gone = await this.#goneContainers(tenant, max)
    const now = this.#options.clock.now()
    const expiresAt = now + seconds * 1000
    const link = randomBytes(SECRET_BYTES).toString('base64url')
    const linkExpiresAt = Math.min(now + LINK_MS, expiresAt)
    const published = await this.#change(tenant, now, ({ ports, links }) => {
      const live = Object.fromEntries(Object.entries(ports).filter(([, one]) => !gone.has(one.containerId)))
      const known = live[placeOf(place)]
      if (known === undefined && Object.keys(live).length >= max) return { values: { ports: live, links }, result: null }
      const one = known ?? { containerId, port, secret: randomBytes(SECRET_BYTES).toString('base64url'), publishedAt: now, expiresAt }
      const kept = { ...one, expiresAt }
      const entry = { hash: hashOf(link), place: placeOf(place), expiresAt: linkExpiresAt }
      return {
        values: { ports: { ...live, [placeOf(place)]: kept }, links: [...links, entry].slice(-MAX_LINKS) },
        result: kept,
      }
    })
    if (published !== null) return { published, link, linkExpiresAt, token: credentialOf(published, 'token') }
    throw new ServiceError(
      'limit_exceeded',
      `This account has ${max} published ports, its maximum (limit published_ports). Unpublish one, or wait until one expires.`,
      { param: 'port' },
    )
  }

  /** Those of a container that have not expired, by number. */
  async list(tenant: string, containerId: string): Promise<readonly PublishedPort[]> {
    const now = this.#options.clock.now()
    const { ports } = await this.#rows.read(tenant)
    return Object.values(ports)
      .filter((one) => one.containerId === containerId && one.expiresAt > now)
      .toSorted((one, other) => one.port - other.port)
  }

  /** Ends a publication with its links and credentials. False when there was none. */
  unpublish(place: Place): Promise<boolean> {
    return this.#change(place.tenant, this.#options.clock.now(), ({ ports, links }) => {
      const { [placeOf(place)]: removed, ...others } = ports
      return {
        values: { ports: others, links: links.filter((link) => link.place !== placeOf(place)) },
        result: removed !== undefined,
      }
    })
  }

  /** Null when the port is not published. */
  async find(place: Place): Promise<PublishedPort | null> {
    const now = this.#options.clock.now()
    const { tenant } = place
    const { ports } = await readThrough(this.#read, tenant, { now, until: now + CACHE_MS, read: () => this.#rows.read(tenant) })
    const found = ports[placeOf(place)]
    return found !== undefined && found.expiresAt > now ? found : null
  }

  /** The port that a link opens. The link is used up. Null for a wrong, used or expired one. */
  async redeem(place: Place, link: string): Promise<PublishedPort | null> {
    const published = await this.find(place)
    if (published === null) return null
    const hash = hashOf(link)
    const isUsed = await this.#change(place.tenant, this.#options.clock.now(), (values) => {
      const links = values.links.filter((one) => one.hash !== hash || one.place !== placeOf(place))
      return links.length === values.links.length ? { values, result: false } : { values: { ...values, links }, result: true }
    })
    return isUsed ? published : null
  }

  /** Applies a change to what has not expired. */
  async #change<Result>(
    tenant: string,
    now: number,
    change: (values: Published) => { readonly values: Published; readonly result: Result },
  ): Promise<Result> {
    try {
      return await this.#rows.change(tenant, (values) => {
        const live: Published = {
          ports: Object.fromEntries(Object.entries(values.ports).filter(([, { expiresAt }]) => expiresAt > now)),
          links: values.links.filter(({ expiresAt }) => expiresAt > now),
        }
        const changed = change(live)
        return changed.values === live ? { values, result: changed.result } : changed
      })
    } finally {
      this.#read.delete(tenant)
    }
  }

  /** Deleted containers whose publications count towards the limit, looked for when it is reached. */
  async #goneContainers(tenant: string, max: number): Promise<ReadonlySet<string>> {
    const { ports } = await this.#rows.read(tenant)
    if (Object.keys(ports).length < max) return new Set()
    const ids = [...new Set(Object.values(ports).map(({ containerId }) => containerId))]
    const rows = await Promise.all(ids.map((id) => this.#options.table.containers.get(tenant, id)))
    return new Set(ids.filter((_, index) => rows[index] === null || rows[index]?.deletedAt !== null))
  }
}
