import { z } from '@hono/zod-openapi'
import { findFile, isVisible, containerOf } from '../../../access.ts'
import { checkContainerLimits, checkImage, checkMemory, imageOf } from '../../../check-limits.ts'
import { endContainer } from '../../../containers/end-container.ts'
import { claimId } from '../../../http/claim-id.ts'
import { collectPage } from '../../../http/paging.ts'
import { InlineBundles, resolveSkills } from '../../../skills/resolve-skills.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { listOf, ListQuery, listSchema, pageOf, deletedSchema } from '../../../http/schemas.ts'
import { Container as ContainerSchema, CreateContainer, renderContainer, containerLimitsOf, refuseNetwork } from './schema.ts'
import type { Container } from '../../../../core/containers/container.ts'
import { createContainer, type NewContainer } from '../../../../core/containers/create-container.ts'
import { copyFile } from '../../../../core/files/copy-file.ts'
import { attachSkills } from '../../../../core/skills/attach-skills.ts'

const createContainerRoute = defineRoute({
  method: 'post',
  path: '/v1/containers',
  scope: 'run',
  operationId: 'createContainer',
  tag: 'Containers',
  summary: 'Create a container',
  description: 'Makes a notebook session. No sandbox starts before code runs in it.',
  body: CreateContainer,
  creates: 'container',
  answers: { 200: { description: 'The container.', schema: ContainerSchema } },
  refusals: ['unsupported_value', 'limit_exceeded', 'file_not_found', 'skill_not_found', 'invalid_file_name'],
  async handle(call) {
    const { body, deps, caller } = call
    refuseNetwork(body.network_policy)
    const tier = body.memory_limit ?? '1g'
    await checkMemory(deps, caller.tenant, tier)
    const image = body.image ?? undefined
    if (image !== undefined) checkImage(deps, image)
    const limits = containerLimitsOf(body.limits)
    if (limits !== undefined) checkContainerLimits(await deps.limits.of(caller.tenant), limits)
    const claimed = await claimId(call, 'container', call.rawBody)
    const earlier = claimed.isReplay ? await deps.table.containers.get(caller.tenant, claimed.id) : null
    if (earlier !== null)
      return json(200, renderContainer(earlier, await imageOf(deps, earlier), deps.clock.now()), { 'idempotent-replayed': 'true' })
    const inline = new InlineBundles(call, claimed.id)
    try {
      const container = await createWithContents(call, inline, {
        id: claimed.id,
        tenant: caller.tenant,
        subject: caller.subject,
        name: body.name,
        memoryTier: tier,
        ...(limits && { limits }),
        ...(image !== undefined && { image }),
        ...(body.expires_after ? { expiresAfterMinutes: body.expires_after.minutes } : {}),
      })
      return json(200, renderContainer(container, await imageOf(deps, container), deps.clock.now()))
    } catch (error) {
      await inline.discard()
      throw error
    }
  },
})

/** Every file and skill is found before anything is created, so that a refusal has no effect. */
async function createWithContents(
  call: Call<unknown, z.infer<typeof CreateContainer>>,
  inline: InlineBundles,
  wanted: NewContainer,
): Promise<Container> {
  const { body, deps } = call
  const files = await Promise.all([...new Set(body.file_ids ?? [])].map((id) => findFile(call, id, 'file_ids')))
  const skills = await resolveSkills(call, body.skills, 'skills', inline)
  const container = await createContainer(deps.table, wanted, deps.clock.now())
  call.note('container_id', container.id)
  const equipped = await attachSkills(deps, container, skills)
  for (const file of files) await copyFile(deps, file, { containerId: container.id }, deps.clock.now())
  return equipped
}

const listContainersRoute = defineRoute({
  method: 'get',
  path: '/v1/containers',
  scope: 'read',
  operationId: 'listContainers',
  tag: 'Containers',
  summary: 'List containers',
  query: ListQuery.extend({ name: z.string().max(1_024).optional().openapi({ description: 'Only containers with this name.' }) }),
  answers: { 200: { description: 'A page of containers.', schema: listSchema(ContainerSchema, 'ContainerList') } },
  async handle({ deps, caller, query }) {
    const page = await collectPage(
      pageOf(query),
      (request) => deps.table.containers.list(caller.tenant, { ...request, name: query.name ?? null }),
      (row) => isVisible(row, caller),
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
  scope: 'read',
  operationId: 'getContainer',
  tag: 'Containers',
  summary: 'Get a container',
  answers: { 200: { description: 'The container.', schema: ContainerSchema } },
  refusals: ['container_not_found'],
  async handle(call) {
    const container = await containerOf(call, call.param('container_id'))
    return json(200, renderContainer(container, await imageOf(call.deps, container), call.deps.clock.now()))
  },
})

const deleteContainerRoute = defineRoute({
  method: 'delete',
  path: '/v1/containers/{container_id}',
  scope: 'run',
  operationId: 'deleteContainer',
  tag: 'Containers',
  summary: 'Delete a container',
  description: 'Ends what runs in it, then removes its files, variables and history. From the answer on it does not exist any more.',
  answers: { 200: { description: 'It is gone.', schema: deletedSchema('container.deleted') } },
  refusals: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const { id } = await containerOf(call, call.param('container_id'))
    await endContainer(deps, caller.tenant, id)
    return json(200, { id, object: 'container.deleted', deleted: true })
  },
})

export const containerRoutes: readonly AnyRoute[] = [createContainerRoute, listContainersRoute, getContainerRoute, deleteContainerRoute]
