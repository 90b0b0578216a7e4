import { ServiceError } from '../../model/errors.ts'
import { withKey } from '../../http/authenticate.ts'
import type { WireAuth } from '../../http/route.ts'

/** Older LibreChat clients send the key as `X-API-Key`. Throws ServiceError for two keys: it would be unclear which one counts. */
export const libreChatAuth: WireAuth = {
  async authenticate(request, _deps, byKey) {
    const key = request.headers.get('x-api-key')
    if (key === null) return byKey(request)
    if (request.headers.has('authorization'))
      throw new ServiceError('invalid_request', 'Send one key: either X-API-Key or Authorization.', { param: 'X-API-Key' })
    return byKey(withKey(request, key))
  },
}
