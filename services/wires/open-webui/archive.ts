import { randomUUID } from 'node:crypto'
import { posix } from 'node:path'
import * as z from 'zod'
import { boundedList, openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { LIMITS } from '../../model/limits.ts'
import { operateBy, removePath } from '../../operations/files/sandbox-files.ts'
import { sandboxPath } from '../../operations/files/sandbox-path.ts'
import { osText } from '../../http/execution-scope.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { sandboxFileResponse } from '../../http/sandbox-file.ts'
import { terminalRoute } from './routing.ts'
import { PROGRAM } from './search.ts'
import { useTerminal } from './terminal.ts'

const Archive = lazySchema(() => openObject({ paths: boundedList(osText(LIMITS.maxPathBytes).min(1), { min: 1, max: 100 }) }))

/** Files and folders as one zip archive, which is packed in the sandbox. Throws ServiceError. */
async function archive(call: Call): Promise<Response> {
  const { paths } = await readJsonMessage(call.request, Archive())
  const { container, context, pathOf } = await useTerminal(call, 'files')
  const packed = `/tmp/.archive-${randomUUID()}.zip`
  const named = paths.map((path) => pathOf(path))
  const request = { op: 'archive', path: packed, paths: named.map(({ real }) => real) }
  try {
    await operateBy(context, container.id, { program: PROGRAM, request, schema: z.object({ size: z.number() }) })
    // It has read the whole archive when it answers.
    const answer = await sandboxFileResponse(call, container, sandboxPath(packed))
    const [first] = named
    const name = named.length === 1 && first !== undefined ? posix.basename(first.shown) : 'download'
    const disposition = `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_') || 'archive'}.zip"`
    const headers = { ...Object.fromEntries(answer.headers), 'content-type': 'application/zip', 'content-disposition': disposition }
    return new Response(answer.body, { headers })
  } finally {
    await removePath(context, container.id, { path: packed }).catch(() => undefined)
  }
}

export const archiveRoutes: readonly AnyRoute[] = [
  terminalRoute({ method: 'post', scope: 'files', path: '/files/archive', ownBody: Archive, handle: archive }),
]
