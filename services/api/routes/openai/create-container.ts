import { copyFile } from '../../../core/files/copy-file.ts'
import { createContainer } from '../../../core/containers/create-container.ts'
import { ServiceError } from '../../../core/errors.ts'
import { findFile } from '../../access.ts'
import { checkContainerLimits, checkMemory } from '../../check-limits.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { Container, CreateContainer, renderContainer } from '../../wire/container.ts'
import { containerLimitsOf } from '../../wire/container-limits.ts'
import { refuseNetwork } from '../../wire/refuse-network.ts'

export const createContainerRoute = defineRoute({
  method: 'post',
  path: '/v1/containers',
  operationId: 'createContainer',
  tag: 'Containers',
  summary: 'Create a container',
  description: 'Makes a notebook session. No sandbox starts before code runs in it.',
  body: CreateContainer,
  answers: { 200: { description: 'The container.', schema: Container } },
  refusals: ['unsupported_value', 'limit_exceeded', 'file_not_found'],
  async handle(call) {
    const { body, deps, caller } = call
    refuseNetwork(body.network_policy)
    if (body.skills !== null && body.skills !== undefined && body.skills.length > 0)
      throw new ServiceError('unsupported_value', 'Skills are not supported. Upload what the code needs as files.', { param: 'skills' })
    const tier = body.memory_limit ?? '1g'
    await checkMemory(deps, caller.tenant, tier)
    const limits = containerLimitsOf(body.limits)
    if (limits !== undefined) checkContainerLimits(await deps.limits.of(caller.tenant), limits)
    // Every file is found before anything is made, so that a refusal leaves nothing behind.
    const files = await Promise.all([...new Set(body.file_ids ?? [])].map((id) => findFile(call, id, 'file_ids')))
    const container = await createContainer(
      deps.table,
      {
        tenant: caller.tenant,
        subject: caller.subject,
        name: body.name,
        memoryTier: tier,
        ...(limits && { limits }),
        ...(body.expires_after ? { expiresAfterMinutes: body.expires_after.minutes } : {}),
      },
      deps.clock.now(),
    )
    call.note('container_id', container.id)
    for (const file of files) await copyFile(deps, file, { containerId: container.id }, deps.clock.now())
    return json(200, renderContainer(container, deps.clock.now()))
  },
})
