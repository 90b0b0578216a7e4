import { createContainer } from '../../operations/containers/create-container.ts'
import { ServiceError } from '../../model/errors.ts'
import { findSource, type FileSource } from '../../operations/files/file-source.ts'
import { planPaths, type IncomingFile } from '../../operations/files/plan-paths.ts'
import { mimeOf } from '../../model/files/mime.ts'
import type { ContainerFile } from '../../model/files/file.ts'
import type { Container } from '../../model/containers/container.ts'
import { NO_NETWORK, type NetworkPolicy } from '../../model/network/policy.ts'
import { policyOf } from '../../model/network/secret.ts'
import { moveSecrets } from '../../operations/network/new-policy.ts'
import { derivedId } from '../../model/ids.ts'
import { attachSkills } from '../../operations/skills/attach-skills.ts'
import type { ContainerSkill } from '../../model/skills/skill.ts'
import type { ResponseRecord } from '../../model/responses/response.ts'
import { itemTypeNamed } from '../../model/responses/items/item-types.ts'
import { attachmentKey, attachmentsIn, type Attachment } from './conversation/attachments.ts'
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
  /** What its code may reach. */
  readonly network: NetworkPolicy
  /** The stored files among them, for links. */
  readonly stored: readonly ContainerFile[]
  /** The path of a file that a request names by its id, or contains (`attachmentKey`); null for one that is not in the container. */
  readonly pathOf: (key: string) => string | null
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
    const { skills, network } = await equip(this.#deps, this.#row, id)
    const all = await this.#deps.table.files.all(this.#row.tenant, id)
    const stored = all.filter((file) => file.isCurrent && file.state === 'stored')
    const paths = new Map(all.map((file) => [file.id, file.path]))
    const pathOf = (key: string): string | null => paths.get(copyId(id, key)) ?? null
    const context = { containerId: id, files: stored, skills, network, stored, pathOf }
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
  const network = request.interpreter?.network ?? request.interpreter?.defaultNetwork
  await createContainer(deps.table, { tenant, subject, id, name: 'auto', memoryTier, ...(network && { network }) }, deps.clock.now())
  await copyInputFiles(deps, row, id)
  await equip(deps, row, id)
}

/** Gives the container the skills and the policy that the request names, and returns what it has. */
async function equip(deps: TurnDeps, row: ResponseRecord, containerId: string): Promise<Pick<ContainerContext, 'skills' | 'network'>> {
  const { tenant, request } = row
  const container = await deps.table.containers.get(tenant, containerId)
  if (container === null || container.deletedAt !== null) return { skills: [], network: NO_NETWORK }
  const network = await giveNetwork(deps, row, container)
  const wanted = request.interpreter?.skills ?? []
  const equipped = await attachSkills(deps, container, wanted).catch((cause: unknown) => {
    // A skill was deleted since the request was accepted, or the container has too many: the turn continues with those that it has.
    if (!(cause instanceof ServiceError)) throw cause
    return container
  })
  return { skills: equipped.skills ?? [], network }
}

/** The gateway gets the policy with the next execution. */
async function giveNetwork({ table }: TurnDeps, { id, tenant, request }: ResponseRecord, container: Container): Promise<NetworkPolicy> {
  const wanted = request.interpreter?.network
  if (wanted === undefined) return policyOf(container)
  await moveSecrets(table, { tenant, from: id, to: container.id })
  if (JSON.stringify(wanted) !== JSON.stringify(policyOf(container))) await table.containers.setNetwork(tenant, container.id, wanted)
  return wanted
}

/** The container that `auto` is going to create, with the files of the request. */
async function futureContainer(deps: TurnDeps, row: ResponseRecord): Promise<ContainerContext> {
  const containerId = autoContainerId(row)
  const { interpreter } = row.request
  const incoming = interpreter === null ? [] : await incomingFiles(deps, row, containerId)
  const byId = planPaths(incoming)
  const paths = new Map(incoming.map(({ key, id, name }) => [key, byId.get(id) ?? name]))
  return {
    containerId,
    files: incoming.map(({ key, name, bytes }) => ({ id: key, path: paths.get(key) ?? name, bytes, source: 'user' })),
    skills: interpreter?.skills ?? [],
    network: interpreter?.network ?? interpreter?.defaultNetwork ?? NO_NETWORK,
    stored: [],
    pathOf: (key) => paths.get(key) ?? null,
  }
}

/** The id of a file's copy, by its own id or by `attachmentKey`. A repeated step computes the same one. */
const copyId = (containerId: string, key: string): string => derivedId('containerFile', 0, `${containerId}:${key}`)

interface Incoming extends IncomingFile {
  readonly key: string
  readonly bytes: number
  readonly file: FileSource | Attachment
}

/** The files that the request names or contains. One that was deleted since the request was accepted is left out. */
async function incomingFiles(
  { table, clock }: TurnDeps,
  { tenant, request: { interpreter, input } }: ResponseRecord,
  containerId: string,
): Promise<readonly Incoming[]> {
  const now = clock.now()
  const sources = await Promise.all((interpreter?.fileIds ?? []).map((id) => findSource(table, { tenant, id }, now)))
  const named = sources
    .filter((source) => source !== null)
    .map((file) => ({ file, key: file.id, name: file.path, identity: file.id, createdAt: file.createdAt }))
  const attached = attachmentsIn(input).map((file) => {
    const key = attachmentKey(file)
    return { file, key, name: file.name, identity: key, createdAt: null }
  })
  return [...named, ...attached].map((one) => ({ ...one, id: copyId(containerId, one.key), bytes: one.file.bytes }))
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
  const { tenant, request } = row
  if (request.interpreter === null) return
  const incoming = await incomingFiles(deps, row, containerId)
  if (incoming.length === 0) return
  const rows = await deps.table.files.all(tenant, containerId)
  const present = new Set(rows.filter(({ state }) => state !== 'deleted').map(({ id }) => id))
  const paths = planPaths(incoming, rows)
  for (const { id, name, file } of incoming) {
    if (present.has(id)) continue
    const path = paths.get(id) ?? name
    const target = { containerId, id, path, now: deps.clock.now() }
    const copy =
      'objectKey' in file
        ? copyFile(deps, file, target)
        : placeFile(deps, { tenant, path, mime: mimeOf(path), sha256: file.sha256, bytes: file.bytes, body: file.body() }, target)
    await copy.catch(ignoreRefusal)
  }
}

/** The container is full, or was deleted meanwhile: the turn continues without the file, and code that needs it reports that. */
function ignoreRefusal(cause: unknown): void {
  if (!(cause instanceof ServiceError)) throw cause
}
