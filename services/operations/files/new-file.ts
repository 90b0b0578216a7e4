import { newId } from '../../model/ids.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { mimeOf } from '../../model/files/mime.ts'
import type { Clock } from '../../ports/clock.ts'

/** A new row for bytes that are, or will be, stored under a random key. */
export const newFile = (
  deps: { readonly clock: Clock },
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
