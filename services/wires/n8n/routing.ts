import { withKey } from '../../http/authenticate.ts'
import { foreignRoutes } from '../../http/foreign-routes.ts'
import type { WireAuth } from '../../http/route.ts'
import { refuse } from './errors.ts'

/** Clients send the key as `X-Api-Key`. */
const auth: WireAuth = {
  authenticate(request, _deps, byKey) {
    const key = request.headers.get('x-api-key')
    return byKey(key === null ? request : withKey(request, key))
  },
}

/** Routes of n8n's sandbox service, and those without credentials. */
export const { route: sandboxRoute, open: publicRoute } = foreignRoutes({ prefix: '/n8n', tag: 'n8n', auth, refuse })
