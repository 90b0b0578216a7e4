import type { Container } from '../../model/containers/container.ts'
import { labelOf as sandboxIdOf, withPort } from '../../model/containers/container-label.ts'
import type { Call } from '../../http/route.ts'
import { grantFor, newRootSecret, tokenOf, withGrant } from './access-token.ts'
import { sandboxMissing } from './open-sandbox.ts'
import { ENVD_VERSION } from './sandbox-info.ts'
import { changeSession, DEFAULT_SECONDS, sessionOf, type Session } from './session.ts'
import { domainOf, NO_DOMAIN } from './settings.ts'

/** End of the time that a client requests, epoch ms. */
export const endAt = ({ deps }: Pick<Call, 'deps'>, wanted: number | null | undefined): number =>
  deps.clock.now() + (wanted ?? DEFAULT_SECONDS) * 1000

/** Stores a session in which the caller has a grant, and answers what clients need to call the data plane. */
export async function admit(
  { deps, caller, publicUrl }: Pick<Call, 'deps' | 'caller' | 'publicUrl'>,
  container: Container,
  change: (session: Session | undefined) => Session,
): Promise<Readonly<Record<string, unknown>>> {
  const grant = grantFor(caller)
  const now = deps.clock.now()
  const row = await changeSession({ deps }, container, (session) => withGrant(change(session), grant, now))
  const session = row === null ? undefined : sessionOf(row)
  if (session === undefined) throw sandboxMissing(sandboxIdOf(container))
  const token = tokenOf(session.secrets.root, grant)
  return {
    sandboxID: sandboxIdOf(container),
    templateID: session.template,
    clientID: 'cellblock',
    envdVersion: ENVD_VERSION,
    envdAccessToken: token,
    trafficAccessToken: token,
    domain: domainOf(deps.config) ?? (deps.webPorts === undefined ? NO_DOMAIN : withPort(deps.webPorts.domain, publicUrl)),
  }
}

export const newSession = (template: string): Session => ({
  secrets: { root: newRootSecret() },
  grants: [],
  template,
  metadata: {},
  env: {},
  endAt: 0,
  onTimeout: 'pause',
  autoResume: true,
  isPaused: false,
  keepsMemory: true,
  hasClosedPorts: true,
  requestHost: null,
  contexts: [],
  watchers: [],
})
