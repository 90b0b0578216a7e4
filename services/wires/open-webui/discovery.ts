import { ServiceError } from '../../model/errors.ts'
import { HOME } from '../../operations/files/sandbox-path.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Method } from '../../http/route.ts'
import { publicRoute, terminalRoute } from './routing.ts'
import { toolDocument } from './tools.ts'

/** Open WebUI puts this before the messages of a chat whose terminal is on. */
const PROMPT = `You have a Linux sandbox of this user. Use its tools to run commands, to read and write files and to search them.
Files in ${HOME} are kept; programs end when the sandbox has been idle for a while. Python 3 has numpy, pandas, matplotlib and more. There is no network unless the operator has allowed hosts.
Check what a command printed before you say that it worked. Save plots and documents as files in ${HOME}, and show them with display_file.`

const NO_POLICIES =
  'Policies are those of the account here: leave the policy of the connection empty. The operator sets limits, images and networks of accounts.'
/** Calls of the administration of Open WebUI's own service, with the sentence that they get instead of 404. */
const NOT_OFFERED: readonly (readonly [Method, string, string])[] = [
  ['get', '/p/{policy_id}/openapi.json', NO_POLICIES],
  ...(['get', 'put', 'delete'] as const).map((method) => [method, '/api/v1/policies/{policy_id}', NO_POLICIES] as const),
  ...(['get', 'put'] as const).map((method) => [method, '/api/v1/policies/{policy_id}/lifecycle', NO_POLICIES] as const),
  ['post', '/api/v1/terminals/refresh', 'Idle sandboxes are released by themselves, and their files are kept.'],
]

export const discoveryRoutes: readonly AnyRoute[] = [
  publicRoute('/health', () => json(200, { status: 'ok' })),
  publicRoute('/api/config', ({ deps }) =>
    json(200, { features: { terminal: deps.sockets !== undefined, notebooks: true, system: true } }),
  ),
  terminalRoute({ method: 'get', path: '/openapi.json', scope: 'read', handle: () => json(200, toolDocument()) }),
  terminalRoute({ method: 'get', path: '/system', scope: 'read', handle: () => json(200, { prompt: PROMPT }) }),
  // By this answer Open WebUI knows a service with a terminal for each user.
  terminalRoute({ method: 'get', path: '/api/v1/policies', scope: 'read', handle: () => json(200, []) }),
  ...NOT_OFFERED.map(([method, path, why]) =>
    terminalRoute({
      method,
      path,
      scope: 'read',
      handle: () => {
        throw new ServiceError('not_offered', why)
      },
    }),
  ),
]
