import { labelOf } from '../../model/containers/container-label.ts'
import { ServiceError } from '../../model/errors.ts'
import { isSameSecret } from '../../model/same-secret.ts'
import type { PortRule } from '../../http/port-proxy/port-rule.ts'
import { findGrant } from './access-token.ts'
import { refuse, SandboxGoneError } from './errors.ts'
import { checkKey, isOverdue } from './open-sandbox.ts'
import { isPaused, sessionOf } from './session.ts'
import { domainOf } from './settings.ts'

/** Stands for the port in the name that a client gives. */
const PORT = '${PORT}'
const TOKEN_HEADER = 'e2b-traffic-access-token'

/** E2B opens every port of a sandbox to everybody who knows its address, unless the sandbox was created with `allowPublicTraffic: false`. */
export const e2bPortRule: PortRule = {
  domainOf,
  refuse,
  secretHeaders: [TOKEN_HEADER, 'x-access-token'],
  async admits(deps, { container, headers }) {
    const session = sessionOf(container)
    if (session === undefined) return false
    const id = labelOf(container)
    const now = deps.clock.now()
    if (container.deletedAt !== null || isOverdue(container, now)) throw new SandboxGoneError(id)
    if (isPaused(session, now) && !session.autoResume)
      throw new SandboxGoneError(id, `The sandbox ${id} is paused. Connect to it to resume it.`)
    if (!session.hasClosedPorts) return true
    const given = headers[TOKEN_HEADER]
    const grant = typeof given === 'string' ? findGrant(session, (token) => isSameSecret(given, token), now) : null
    if (grant === null)
      throw new ServiceError(
        'insufficient_scope',
        `The ports of this sandbox are closed. Send its trafficAccessToken in the header ${TOKEN_HEADER}.`,
      )
    await checkKey(deps, container.tenant, grant.keyId)
    return true
  },
  programName: (container, port) => sessionOf(container)?.requestHost?.replaceAll(PORT, String(port)) ?? null,
}
