import { PRINT } from './print.ts'
import type { ApiClient } from './api-client.ts'
import { timed } from './time.ts'

/** Milliseconds of the first execution of a new container, which is deleted again. */
export async function timeFirstExecution(api: ApiClient): Promise<number> {
  const container = await api.createContainer()
  const ms = await timed(() => api.run(container, PRINT))
  await api.deleteContainer(container)
  return ms
}
