import type { AnyRoute } from '../../http/route.ts'
import { archiveRoutes } from './archive.ts'
import { discoveryRoutes } from './discovery.ts'
import { fileRoutes } from './files.ts'
import { notebookRoutes } from './notebooks.ts'
import { portRoutes } from './ports.ts'
import { processRoutes } from './processes.ts'
import { searchRoutes } from './search.ts'
import { shellRoutes } from './shells.ts'
import { skillRoutes } from './skills.ts'

export const openWebUiRoutes: readonly AnyRoute[] = [
  ...discoveryRoutes,
  ...fileRoutes,
  ...archiveRoutes,
  ...searchRoutes,
  ...processRoutes,
  ...shellRoutes,
  ...portRoutes,
  ...skillRoutes,
  ...notebookRoutes,
]
