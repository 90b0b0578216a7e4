import * as z from 'zod'
import { findFile } from '../../../operations/files/find-file.ts'
import { visibleTo, containerOf } from '../../../operations/access.ts'
import { checkContainerLimits, checkImage, checkMemory, imageOf } from '../../../operations/tenancy/check-limits.ts'
import { endContainer } from '../../../operations/containers/end-container.ts'
import { claimId } from '../../../http/claim-id.ts'
import { collectPage } from '../../../http/paging.ts'
import { InlineBundles, resolveSkills } from '../../../operations/skills/resolve-skills.ts'
import { json } from '../../../http/responses.ts'
import type { Described } from '../../../model/lazy-schema.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { listOf, ListQuery, listSchema, pageOf, deletedSchema } from '../../../http/schemas.ts'
import { Container as ContainerSchema, CreateContainer, renderContainer, containerLimitsOf, wantedNetwork } from './schema.ts'
import type { Container } from '../../../model/containers/container.ts'
import { createContainer, type NewContainer } from '../../../operations/containers/create-container.ts'
import { copyFile } from '../../../operations/files/copy-file.ts'
import { planPaths } from '../../../operations/files/plan-paths.ts'
import { ServiceError } from '../../../model/errors.ts'
import { wantedOf } from '../../../http/network-body.ts'
import { networkForNew, storeSecrets, type WantedNetwork } from '../../../operations/network/new-policy.ts'
import { derivedId } from '../../../model/ids.ts'
import { attachSkills } from '../../../operations/skills/attach-skills.ts'

const createContainerRoute = defineRoute({
  method: 'post',
  path: '/v1/containers',
  auth: 'session',
  scope: 'run',
  operationId: 'createContainer',
  tag: 'Containers',
  summary: 'Create a container',
  description: 'Creates a notebook session. Its sandbox starts when code runs in it.',
  body: CreateContainer,
  creates: 'container',
  answers: { 200: { description: 'The container.', schema: ContainerSchema } },
  errors: [
    'unsupported_value',
    'limit_exceeded',
    'network_not_allowed',
    'secret_not_found',
    'file_not_found',
    'skill_not_found',
    'invalid_file_name',
  ],
  async handle(call) {
    const { body, deps, caller } = call
    const network = await networkOfNew(call)
    const tier = body.memory_limit ?? '1g'
    await checkMemory(deps, caller.tenant, { tier })
    const image = body.image ?? undefined
    if (image !== undefined) checkImage(deps, image)
    const limits = containerLimitsOf(body.limits)
    if (limits !== undefined) checkContainerLimits(await deps.limits.of(caller.tenant), limits)
    const claimed = await claimId(call, 'container', { body: call.rawBody })
    const earlier = claimed.isReplay ? await deps.table.containers.get(caller.tenant, claimed.id) : null
    const container = await createWithContents(call, earlier, {
      id: claimed.id,
      tenant: caller.tenant,
      subject: caller.subject,
      name: body.name,
      memoryTier: tier,
      ...(limits && { limits }),
      network: network.policy,
      ...(image !== undefined && { image }),
      ...(body.expires_after ? { expiresAfterMinutes: body.expires_after.minutes } : {}),
    })
    if (container.deletedAt === null) await storeSecrets(deps, { ...container, owner: container.id }, network.secrets)
    const headers: Record<string, string> = earlier === null ? {} : { 'idempotent-replayed': 'true' }
    return json(200, renderContainer(container, await imageOf(deps, container), deps.clock.now()), headers)
  },
})

/** Throws ServiceError. */
async function networkOfNew({ body, deps, caller }: Call<unknown, Described<typeof CreateContainer>>): Promise<WantedNetwork> {
  const own = body.network ?? undefined
  const policy = wantedNetwork(body.network_policy)
  if (own !== undefined && policy !== undefined)
    throw new ServiceError('invalid_request', "'network' and 'network_policy' were both given. Send one of them.", { param: 'network' })
  if (own === undefined) return networkForNew(deps, caller, { wanted: policy, param: 'network_policy' })
  return networkForNew(deps, caller, { wanted: wantedOf(own), param: 'network' })
}

/**
 * The container with its files and skills. `earlier` is the row of an earlier call with the same claim: that call may have failed half-way, so
 * what is missing is added. Every file and skill is found before anything is created, so that a refusal has no effect.
 */
async function createWithContents(
  call: Call<unknown, Described<typeof CreateContainer>>,
  earlier: Container | null,
  wanted: NewContainer & { readonly id: string },
): Promise<Container> {
  const { body, deps } = call
  const missing = earlier?.deletedAt ? [] : await missingFiles(call, wanted, body.file_ids ?? [])
  const hasSkills = earlier !== null && (earlier.deletedAt !== null || (earlier.skills ?? []).length >= (body.skills ?? []).length)
  if (earlier !== null && missing.length === 0 && hasSkills) return earlier
  const files = await Promise.all(
    missing.map(async ({ fileId, id }) => ({ id, source: await findFile(call, fileId, { scope: 'run', param: 'file_ids' }) })),
  )
  const inline = new InlineBundles(call, wanted.id)
  const skills = await resolveSkills(call, body.skills, { param: 'skills', inline }).catch(async (cause: unknown) => {
    await inline.discard()
    throw cause
  })
  const container = earlier ?? (await createContainer(deps.table, wanted, deps.clock.now()))
  call.note('container_id', container.id)
  const equipped = await attachSkills(deps, container, skills)
  await inline.discard(equipped.skills)
  const incoming = files.map(({ id, source }) => ({ id, name: source.path, identity: source.id, createdAt: source.createdAt }))
  const paths = planPaths(incoming, earlier === null ? [] : await deps.table.files.all(container.tenant, container.id))
  for (const { id, source } of files) {
    const path = paths.get(id) ?? source.path
    await copyFile(deps, source, { containerId: container.id, id, path, now: deps.clock.now() })
  }
  return equipped
}

/** The files that the container has never had. The id of a copy follows from both ids, so a repeated call copies each once. */
async function missingFiles(
  { deps }: Pick<Call, 'deps'>,
  { tenant, id: containerId }: NewContainer & { readonly id: string },
  fileIds: readonly string[],
): Promise<readonly { readonly fileId: string; readonly id: string }[]> {
  const copies = [...new Set(fileIds)].map((fileId) => ({ fileId, id: derivedId('containerFile', 0, `${containerId}:created:${fileId}`) }))
  const rows = await Promise.all(copies.map(({ id }) => deps.table.files.get(tenant, containerId, id)))
  return copies.filter((_, index) => rows[index] === null)
}

const listContainersRoute = defineRoute({
  method: 'get',
  path: '/v1/containers',
  auth: 'session',
  scope: 'read',
  operationId: 'listContainers',
  tag: 'Containers',
  summary: 'List containers',
  query: () => ListQuery().extend({ name: z.string().max(1_024).optional().openapi({ description: 'Only containers with this name.' }) }),
  answers: { 200: { description: 'A page of containers.', schema: listSchema(ContainerSchema, 'ContainerList') } },
  async handle({ deps, caller, query }) {
    const page = await collectPage(
      pageOf(query),
      (request) => deps.table.containers.list(caller.tenant, { ...request, name: query.name ?? null }),
      visibleTo(caller, 'read'),
    )
    const now = deps.clock.now()
    return json(
      200,
      listOf(await Promise.all(page.rows.map(async (row) => renderContainer(row, await imageOf(deps, row), now))), page.hasMore),
    )
  },
})

const getContainerRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}',
  auth: 'session',
  scope: 'read',
  operationId: 'getContainer',
  tag: 'Containers',
  summary: 'Get a container',
  answers: { 200: { description: 'The container.', schema: ContainerSchema } },
  errors: ['container_not_found'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'), 'read')
    return json(200, renderContainer(container, await imageOf(call.deps, container), call.deps.clock.now()))
  },
})

const deleteContainerRoute = defineRoute({
  method: 'delete',
  path: '/v1/containers/{container_id}',
  auth: 'session',
  scope: 'run',
  operationId: 'deleteContainer',
  tag: 'Containers',
  summary: 'Delete a container',
  description:
    'Cancels its running executions and commands, then removes its files, variables and history. After the answer the container no longer exists.',
  answers: { 200: { description: 'The container is deleted.', schema: deletedSchema('container.deleted') } },
  errors: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const { id } = await containerOf(call, call.param('container_id'), 'run')
    await endContainer(deps, caller.tenant, id)
    return json(200, { id, object: 'container.deleted', deleted: true })
  },
})

export const containerRoutes: readonly AnyRoute[] = [createContainerRoute, listContainersRoute, getContainerRoute, deleteContainerRoute]
