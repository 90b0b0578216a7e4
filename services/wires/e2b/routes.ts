import type { AnyRoute } from '../../http/route.ts'
import { envdFileRoutes } from './files.ts'
import { filesystemRoutes } from './filesystem.ts'
import { interpreterRoutes } from './interpreter.ts'
import { notOfferedRoutes } from './not-offered.ts'
import { processRoutes } from './processes.ts'
import { sandboxRoutes } from './sandboxes.ts'
import { watchRoutes } from './watch.ts'

/** Literal paths precede those with an id in the same position. */
export const e2bRoutes: readonly AnyRoute[] = [
  ...notOfferedRoutes,
  ...sandboxRoutes,
  ...interpreterRoutes,
  ...envdFileRoutes,
  ...filesystemRoutes,
  ...watchRoutes,
  ...processRoutes,
]
