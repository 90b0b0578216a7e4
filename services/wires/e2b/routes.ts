import type { AnyRoute, Method } from '../../http/route.ts'
import { activityRoutes } from './activity.ts'
import { copyRoutes } from './copies.ts'
import { envdFileRoutes } from './files.ts'
import { filesystemRoutes } from './filesystem.ts'
import { interpreterRoutes } from './interpreter.ts'
import { processRoutes } from './processes.ts'
import { sandboxRoutes } from './sandboxes.ts'
import { templateRoutes } from './templates.ts'
import { watchRoutes } from './watch.ts'
import { NotOfferedError } from './errors.ts'
import { e2bRoute } from './routing.ts'

const BUILT_BY_OPERATOR = 'Templates are the images of this server; its operator builds them.'
const NOT_OFFERED: readonly (readonly [string, string, readonly Method[]])[] = [
  ['/sandboxes/metrics', 'Metrics of sandboxes are not recorded; each execution reports its usage.', ['get']],
  ...['/templates', '/v2/templates'].map((path) => [path, BUILT_BY_OPERATOR, ['post', 'delete']] as const),
  ['/v3/templates', BUILT_BY_OPERATOR, ['get', 'post', 'delete']],
  ['/templates/{template_id}', BUILT_BY_OPERATOR, ['get', 'post']],
  ...['/volumes', '/volumes/{volume_id}'].map((path) => [path, 'Volumes are not offered.', ['get', 'post', 'delete']] as const),
  ...['/secrets', '/secrets/{secret_id}'].map(
    (path) => [path, 'Secrets are stored with PUT /v1/secrets/{secret_name} of the native wire.', ['get', 'post', 'delete']] as const,
  ),
]

/** Parts of E2B's API that are not supported: they answer 501 in E2B's error form instead of 404. */
const notOfferedRoutes: readonly AnyRoute[] = NOT_OFFERED.flatMap(([path, why, methods]) =>
  methods.map((method) =>
    e2bRoute({
      plane: 'control',
      scope: 'read',
      method,
      path,
      handle: () => {
        throw new NotOfferedError(why)
      },
    }),
  ),
)

/** Literal paths precede those with an id in the same position. */
export const e2bRoutes: readonly AnyRoute[] = [
  ...notOfferedRoutes,
  ...sandboxRoutes,
  ...copyRoutes,
  ...templateRoutes,
  ...activityRoutes,
  ...interpreterRoutes,
  ...envdFileRoutes,
  ...filesystemRoutes,
  ...watchRoutes,
  ...processRoutes,
]
