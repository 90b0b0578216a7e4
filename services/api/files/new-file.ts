import { newId } from '../../core/ids.ts'
import type { ContainerFile } from '../../core/files/file.ts'
import { mimeOf } from '../../core/files/mime.ts'
import type { ApiDeps } from '../deps.ts'

/** A new row for bytes that are, or will be, stored under a random key. */
export const newFile = (
  deps: Pick<ApiDeps, 'clock'>,
  file: Pick<ContainerFile, 'tenant' | 'containerId' | 'path' | 'bytes' | 'sha256' | 'objectKey' | 'state'>,
): ContainerFile => ({
  ...file,
  v: 1,
  id: newId('containerFile'),
  mime: mimeOf(file.path),
  source: 'user',
  createdAt: deps.clock.now(),
  executionId: null,
  isCurrent: file.state === 'stored',
  sandboxGeneration: 0,
})
