import { json } from '../../http/responses.ts'
import type { AnyRoute } from '../../http/route.ts'
import { executionRoutes } from './executions.ts'
import { fileRoutes } from './files.ts'
import { publicRoute } from './routing.ts'
import { sandboxRoutes } from './sandboxes.ts'

export const n8nRoutes: readonly AnyRoute[] = [
  publicRoute('/healthz', () => json(200, { status: 'ok' })),
  ...sandboxRoutes,
  ...executionRoutes,
  ...fileRoutes,
]
