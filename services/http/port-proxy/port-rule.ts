import type { IncomingHttpHeaders } from 'node:http'
import type { Container } from '../../model/containers/container.ts'
import type { ServiceError } from '../../model/errors.ts'
import type { ApiDeps } from '../deps.ts'

/** How a wire opens the ports of its containers without a publication. */
export interface PortRule {
  /** The domain below which its clients look for ports; undefined without one. */
  readonly domainOf: (config: ApiDeps['config']) => string | undefined
  /** Headers with credentials, which no program gets. */
  readonly secretHeaders: readonly string[]
  /** Whether the container is one of the wire and the visitor may reach its ports. Deleted containers are passed too. Throws ServiceError for a refusal. */
  readonly admits: (
    deps: Pick<ApiDeps, 'table' | 'clock' | 'config'>,
    visit: { readonly container: Container; readonly headers: IncomingHttpHeaders },
  ) => Promise<boolean>
  /** The name by which programs of this container are called, instead of `localhost:<port>`; null for that. */
  readonly programName: (container: Container, port: number) => string | null
  /** A refusal as the clients of the wire expect it. */
  readonly refuse: (error: ServiceError) => Response
}
