import { createContainer } from '../../operations/containers/create-container.ts'
import { ServiceError } from '../../model/errors.ts'
import { findSource } from '../../operations/files/file-source.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import { derivedId } from '../../model/ids.ts'
import { attachSkills } from '../../operations/skills/attach-skills.ts'
import type { ContainerSkill } from '../../model/skills/skill.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import { itemTypeNamed } from '../../model/responses/items/item-types.ts'
import { attachmentsIn } from './conversation/attachments.ts'
import type { PastTurn } from './conversation/past-turn.ts'
import type { TurnDeps } from './deps.ts'
import { copyFile } from '../../operations/files/copy-file.ts'
import { placeFile } from '../../operations/files/place-file.ts'

/** A read of a container is valid for this time within a step, milliseconds, unless code has changed files. */
const FRESH_MS = 1_000
/** Maximum number of containers of a history that are read. */
const MAX_CANDIDATES = 5

/** Where a turn's code runs, and the files there. `auto` means the container of an earlier turn, else one that is created when code first runs. */
export interface ContainerContext {
  readonly containerId: string
  /** Files that the model is informed of: those of the container, or those that it will be created with. */
  readonly files: readonly Pick<ContainerFile, 'id' | 'path' | 'bytes' | 'source'>[]
  /** Skills that the container has, or will be created with. */
  readonly skills: readonly ContainerSkill[]
  /** The stored files among them, for links. */
  readonly stored: readonly ContainerFile[]
}

/** Reads the container of a turn, at most once a second. */
export class ContainerReader {
  readonly #deps: TurnDeps
  readonly #row: ResponseRecord
  #known: { readonly context: ContainerContext; readonly readAt: number } | null = null

  constructor(deps: TurnDeps, row: ResponseRecord) {
    this.#deps = deps
    this.#row = row
  }

  /** `containerId`: null while the turn has used none. */
  async read(containerId: string | null, history: readonly PastTurn[]): Promise<ContainerContext> {
    const readAt = this.#deps.clock.now()
    if (this.#known?.context.containerId === containerId && readAt - this.#known.readAt < FRESH_MS) return this.#known.context
    const id = containerId ?? (await findEarlierContainer(this.#deps, this.#row, history))
    if (id === null) return futureContainer(this.#deps, this.#row)
    await copyInputFiles(this.#deps, this.#row, id)
    const skills = await equip(this.#deps, this.#row, id)
    const all = await this.#deps.table.files.all(this.#row.tenant, id)
    const stored = all.filter((file) => file.isCurrent && file.state === 'stored')
    const context = { containerId: id, files: stored, skills, stored }
    this.#known = { context, readAt }
    return context
  }

  /** Code may have changed the files. */
  invalidate(): void {
    this.#known = null
  }
}

/** The deterministic id of the container that `auto` creates, so that a crash leaves no second container. */
export const autoContainerId = (row: ResponseRecord): string => derivedId('container', row.createdAt, `${row.id}:container`)

/** Creates the container of `auto` with the files that the request names. A repetition changes nothing. */
export async function createAutoContainer(deps: TurnDeps, row: ResponseRecord): Promise<void> {
  const { tenant, subject, request } = row
  const id = autoContainerId(row)
  const memoryTier = request.interpreter?.memoryTier ?? '1g'
  await createContainer(deps.table, { tenant, subject, id, name: 'auto', memoryTier }, deps.clock.now())
  await copyInputFiles(deps, row, id)
  await equip(deps, row, id)
}

/** Gives the container the skills that the request names, and returns all that it has. */
async function equip(deps: TurnDeps, { tenant, request }: ResponseRecord, containerId: string): Promise<readonly ContainerSkill[]> {
  const container = await deps.table.containers.get(tenant, containerId)
  if (container === null || container.deletedAt !== null) return []
  const wanted = request.interpreter?.skills ?? []
  const equipped = await attachSkills(deps, container, wanted).catch((cause: unknown) => {
    // A skill was deleted since the request was accepted, or the container has too many: the turn continues with those that it has.
    if (!(cause instanceof ServiceError)) throw cause
    return container
  })
  return equipped.skills ?? []
}

/** The container that `auto` is going to create, with the files of the request. */
async function futureContainer({ table, clock }: TurnDeps, row: ResponseRecord): Promise<ContainerContext> {
  const { interpreter, input } = row.request
  const sources = await Promise.all((interpreter?.fileIds ?? []).map((id) => findSource(table, { tenant: row.tenant, id }, clock.now())))
  const attached =
    interpreter === null ? [] : attachmentsIn(input).map(({ path, sha256, body }) => ({ id: sha256, path, bytes: body.length }))
  const files = [...sources.filter((file) => file !== null), ...attached]
  return {
    containerId: autoContainerId(row),
    files: files.map(({ id, path, bytes }) => ({ id, path, bytes, source: 'user' })),
    skills: interpreter?.skills ?? [],
    stored: [],
  }
}

/**
 * The container in which an `auto` turn continues: the nearest one that the conversation names and that still exists. Items that the client returns
 * name their container. A hibernated one is restored; a deleted one, or one of another end user, is skipped.
 */
async function findEarlierContainer(deps: TurnDeps, row: ResponseRecord, history: readonly PastTurn[]): Promise<string | null> {
  const { tenant, subject, request } = row
  if (request.interpreter === null) return null
  const named = [
    ...containersIn(request.input),
    ...history
      .toReversed()
      .flatMap((earlier) => [...(earlier.containerId === null ? [] : [earlier.containerId]), ...containersIn(earlier.request.input)]),
  ]
  for (const id of [...new Set(named)].slice(0, MAX_CANDIDATES)) {
    const container = await deps.table.containers.get(tenant, id)
    if (container !== null && container.deletedAt === null && (subject === null || container.subject === subject)) return id
  }
  return null
}

/** The latest first. */
function containersIn(input: PastTurn['request']['input']): readonly string[] {
  if (typeof input === 'string') return []
  return input.toReversed().flatMap((item) => {
    const id = itemTypeNamed(item['type'])?.containerOf?.(item)
    return typeof id === 'string' && id !== '' ? [id] : []
  })
}

/**
 * Copies the files that the request names or contains into the container, each once: a client that sends a file again with its history does not
 * overwrite the changes of code.
 */
async function copyInputFiles(deps: TurnDeps, row: ResponseRecord, containerId: string): Promise<void> {
  const { interpreter, input } = row.request
  if (interpreter === null) return
  const { table, clock } = deps
  const missing = async (seed: string): Promise<string | null> => {
    const id = derivedId('containerFile', 0, `${containerId}:${seed}`)
    const file = await table.files.get(row.tenant, containerId, id)
    return file === null || file.state === 'deleted' ? id : null
  }
  for (const fileId of interpreter.fileIds) {
    const id = await missing(fileId)
    const source = id === null ? null : await findSource(table, { tenant: row.tenant, id: fileId }, clock.now())
    // A file that was deleted since the request was accepted is left out.
    if (id !== null && source !== null) await copyFile(deps, source, { containerId, id, now: clock.now() }).catch(ignoreRefusal)
  }
  for (const { path, mime, sha256, body } of attachmentsIn(input)) {
    const id = await missing(`${path}:${sha256}`)
    const file = { tenant: row.tenant, path, mime, sha256, bytes: body.length, body }
    if (id !== null) await placeFile(deps, file, { containerId, id, now: clock.now() }).catch(ignoreRefusal)
  }
}

/** The container is full, or was deleted meanwhile: the turn continues without the file, and code that needs it reports that. */
function ignoreRefusal(cause: unknown): void {
  if (!(cause instanceof ServiceError)) throw cause
}
