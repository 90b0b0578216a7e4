import { hasExpired } from '../../../core/files/user-file.ts'
import { isVisible } from '../../access.ts'
import { collectPage } from '../../http/collect-page.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { listOf, listSchema, MAX_PAGE, pageOf } from '../../wire/list.ts'
import { renderUserFile, UserFile, UserFileQuery } from '../../wire/user-file.ts'

const DEFAULT_FILES = 100

export const listFilesRoute = defineRoute({
  method: 'get',
  path: '/v1/files',
  operationId: 'listFiles',
  tag: 'Files',
  summary: 'List files',
  query: UserFileQuery,
  answers: { 200: { description: 'A page of files.', schema: listSchema(UserFile, 'UserFileList') } },
  async handle({ deps, caller, query }) {
    const now = deps.clock.now()
    const page = await collectPage(
      { ...pageOf(query), limit: Math.min(query.limit ?? DEFAULT_FILES, MAX_PAGE) },
      (request) => deps.table.userFiles.list(caller.tenant, request),
      (row) => isVisible(row, caller) && !hasExpired(row, now) && (query.purpose === undefined || row.purpose === query.purpose),
    )
    return json(200, listOf(page.rows.map(renderUserFile), page.hasMore))
  },
})
