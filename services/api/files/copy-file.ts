import type { ContainerFile } from '../../core/file.ts'
import { newId } from '../../core/ids.ts'
import { newObjectKey } from '../../core/object-keys.ts'
import { fileMissing } from '../access.ts'
import type { ApiDeps } from '../deps.ts'
import { settleVersions } from './store-file.ts'

/** Copies the bytes too: each container's objects live and die with it. `path` is the source's unless given. */
export async function copyFile(deps: Pick<ApiDeps, 'table' | 'objects' | 'clock'>, source: ContainerFile, containerId: string, path = source.path): Promise<ContainerFile> {
  const object = await deps.objects.get(source.objectKey)
  if (object === null) throw fileMissing(source.id)
  const file: ContainerFile = {
    ...source,
    id: newId('containerFile'),
    containerId,
    path,
    source: 'user',
    createdAt: deps.clock.now(),
    objectKey: newObjectKey(source.tenant, 'files', containerId),
    executionId: null,
    isCurrent: true,
    sandboxGeneration: 0,
  }
  await deps.objects.put(file.objectKey, object.body, { contentType: file.mime })
  await deps.table.files.put(file)
  await settleVersions(deps, file)
  return file
}
