import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import type { Container } from '../../../model/containers/container.ts'
import type { Lost } from '../../../model/executions/execution.ts'
import { sandboxPathOf, type ContainerFile, type ExecutionFile } from '../../../model/files/file.ts'
import { lostFile } from './losses.ts'
import { aliasOfPath, normalizeFilePath } from '../../../model/files/file-path.ts'
import { newId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { mimeOf } from '../../../model/files/mime.ts'
import { newObjectKey } from '../../../model/object-keys.ts'
import type { ByteStream } from '../../../model/byte-stream.ts'
import { LinkError } from '../../../ports/sandbox-link.ts'
import { SupervisorError, type SandboxFile, type SupervisorEnvelope } from '../../../ports/supervisor.ts'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import { keepNewest } from '../../../operations/files/supersede-older-versions.ts'
import type { RunDeps } from '../../deps.ts'
import { allEnded } from './all-ended.ts'

const AT_ONCE = 4
/** Attempts per file: a connection to the sandbox or the store may break. */
const DOWNLOADS = 2

/** What code left in a sandbox. */
interface CollectionRequest {
  readonly session: SandboxSession
  readonly owner: Pick<Container, 'tenant' | 'id' | 'generation'>
  /** The execution whose files they are; null for what is collected when the container goes to sleep. */
  readonly executionId: string | null
  readonly maxFiles: number
  readonly envelope: Pick<SupervisorEnvelope, 'files' | 'deleted' | 'skipped'>
  readonly signal: AbortSignal
}

export interface Collected {
  readonly files: readonly ExecutionFile[]
  readonly lost: readonly Lost[]
}

/** A file of the sandbox, the path that its rows have, and its current version. */
interface FoundFile {
  readonly found: SandboxFile
  readonly path: string
  readonly before: ContainerFile | null
}

/**
 * Copies files that the code created or changed into the object store and writes a row for each version. Names are data: a name in another Unicode form
 * is stored in form C and keeps its spelling in sandboxes, and `lost` names a path that the rules refuse. A repetition after a crash creates no second
 * version, because a version with the same bytes is recognised. A file that a user uploads during the execution was never in the sandbox, so the code cannot
 * have deleted it; the newer of two versions is the current one.
 */
export async function collectFiles(deps: RunDeps, request: CollectionRequest): Promise<Collected> {
  const { owner, maxFiles, envelope } = request
  if (envelope.files.length === 0 && envelope.deleted.length === 0) return { files: [], lost: [] }
  const { tenant, id: containerId, generation } = owner
  const current = new Map<string, ContainerFile>()
  for (const file of await deps.table.files.all(tenant, containerId))
    if (file.isCurrent && file.state === 'stored') current.set(sandboxPathOf(file), file)

  await allEnded(
    envelope.deleted.map(async (path) => {
      const file = current.get(path)
      if (file?.sandboxGeneration !== generation || isUnseen(path, envelope.skipped)) return
      await deps.table.files.patch({ tenant, containerId, id: file.id }, { isCurrent: false, endedAt: deps.clock.now() })
      current.delete(path)
    }),
  )

  const lost: Lost[] = []
  const wanted = envelope.files.slice(0, maxFiles)
  if (wanted.length < envelope.files.length) {
    lost.push({ what: 'files', reason: `Only the first ${wanted.length} of ${envelope.files.length} changed files were kept.` })
  }
  const named = nameFiles(wanted, current)
  lost.push(...named.lost)
  const slots = pLimit(AT_ONCE)
  const collected = await allEnded(
    named.files.map((file) =>
      slots(async () => {
        const outcome = await collectOne(deps, request, file)
        if ('id' in outcome) return outcome
        lost.push(outcome)
        return null
      }),
    ),
  )
  const files = collected.filter((file) => file !== null)
  if (files.length > 0) {
    const rows = (await deps.table.files.all(tenant, containerId)).filter((file) => file.isCurrent)
    await keepNewest(deps.table, rows, { paths: new Set(files.map(({ path }) => path)), now: deps.clock.now() })
  }
  return { files, lost }
}

/**
 * The path of each file in rows and links. A file keeps the path that it had. Of several names that are equal in form C, the one in form C has the path, and
 * the others get one with a hash, which `lost` tells. `current` is by the path in the sandbox.
 */
function nameFiles(
  found: readonly SandboxFile[],
  current: ReadonlyMap<string, ContainerFile>,
): { readonly files: readonly FoundFile[]; readonly lost: readonly Lost[] } {
  const files: FoundFile[] = []
  const lost: Lost[] = []
  const taken = new Map([...current.values()].map((file) => [file.path, sandboxPathOf(file)]))
  const isNormal = ({ path }: SandboxFile): boolean => path === path.normalize('NFC')
  for (const file of [...found.filter(isNormal), ...found.filter((one) => !isNormal(one))]) {
    const before = current.get(file.path) ?? null
    try {
      const path = before?.path ?? normalizeFilePath(file.path)
      const isFree = (taken.get(path) ?? file.path) === file.path
      const own = isFree ? path : aliasOfPath(path, file.path)
      taken.set(own, file.path)
      files.push({ found: file, path: own, before })
      if (!isFree)
        lost.push({
          what: lostFile(file.path),
          reason: `It is kept as ${JSON.stringify(own)}: another file has the same name in Unicode normal form C.`,
        })
    } catch (cause) {
      lost.push({ what: lostFile(file.path), reason: cause instanceof Error ? cause.message : 'Its name is refused.' })
    }
  }
  return { files, lost }
}

/** Whether the sandbox could not read that folder: a file that it cannot see may still exist. */
const isUnseen = (path: string, skipped: SupervisorEnvelope['skipped']): boolean =>
  skipped.some(
    (place) =>
      (place.reason === 'unreadable' || place.reason === 'too_many') &&
      (place.path === '.' || path === place.path || path.startsWith(`${place.path}/`)),
  )

async function collectOne(deps: RunDeps, request: CollectionRequest, { found, path, before }: FoundFile): Promise<ExecutionFile | Lost> {
  const { executionId } = request
  const { tenant, id: containerId, generation } = request.owner
  const what = lostFile(found.path)
  if (found.bytes > LIMITS.maxFileBytes) return { what, reason: `It has ${found.bytes} bytes; at most ${LIMITS.maxFileBytes} are kept.` }

  if (before !== null && before.sha256 === found.sha256 && before.bytes === found.bytes) {
    return {
      id: before.id,
      path,
      bytes: before.bytes,
      sha256: found.sha256,
      mime: before.mime,
      isNew: before.executionId === executionId,
      modifiedFrom: null,
    }
  }

  const mime = mimeOf(path)
  const objectKey = newObjectKey(tenant, 'files', containerId)
  const stored = await bring(deps, request, { path: found.path, objectKey, mime })
  if (typeof stored === 'string') return { what, reason: stored }
  const { bytes, sha256 } = stored
  const file: ContainerFile = {
    v: 1,
    tenant,
    id: newId('containerFile'),
    containerId,
    path,
    ...(path !== found.path && { sandboxPath: found.path }),
    bytes,
    sha256,
    mime,
    source: 'assistant',
    createdAt: deps.clock.now(),
    objectKey,
    executionId,
    isCurrent: true,
    state: 'stored',
    sandboxGeneration: generation,
  }
  await deps.table.files.put(file)
  return { id: file.id, path, bytes, sha256, mime, isNew: before === null, modifiedFrom: before?.id ?? null }
}

/** Streams a file into an object; returns the reason if that is not possible. The code has ended, so the loss of the sandbox costs only its files. */
async function bring(
  deps: RunDeps,
  { session, signal }: CollectionRequest,
  { path, objectKey, mime }: Pick<ContainerFile, 'path' | 'objectKey' | 'mime'>,
): Promise<{ readonly bytes: number; readonly sha256: string } | string> {
  for (let attempt = 1; ; attempt++) {
    try {
      const download = await deps.supervisor.getFile(session, path, signal)
      if (download === null) return 'When it was collected, it no longer existed or was no longer a regular file.'
      const counted = counting(download.body)
      const { bytes } = await deps.objects.put(objectKey, counted.stream, { contentType: mime, bytes: download.bytes })
      return { bytes, sha256: counted.sha256() }
    } catch (cause) {
      if (cause instanceof SupervisorError && cause.code === 'bad_request')
        return 'Its folder, or it itself, was closed to reading when it was collected.'
      const isUnreachable = cause instanceof LinkError || (cause instanceof SupervisorError && cause.code === 'wrong_sandbox')
      const isRefused = cause instanceof SupervisorError && !isUnreachable
      if (isRefused || signal.aborted) throw cause
      if (attempt < DOWNLOADS) continue
      if (!isUnreachable) throw cause
      return 'It could not be read completely: it kept changing, or the sandbox was lost.'
    }
  }
}

/** The hash is that of the stored bytes, not the one that the sandbox reported. */
function counting(body: ByteStream): { readonly stream: ByteStream; readonly sha256: () => string } {
  const hash = createHash('sha256')
  let digest: string | null = null
  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      hash.update(chunk)
      yield chunk
    }
  }
  return { stream: pass(), sha256: () => (digest ??= hash.digest('hex')) }
}
