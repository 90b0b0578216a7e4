import * as z from 'zod'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { answerSchema, type Described } from '../../../model/lazy-schema.ts'
import { containerOf } from '../../../operations/access.ts'
import { resumeContainer, suspendContainer, type ContainerProcesses } from '../../../operations/containers/suspend-container.ts'

const TAG = 'Suspension'

const Processes = answerSchema(() =>
  z
    .object({
      object: z.literal('container.processes'),
      container_id: z.string(),
      state: z.enum(['running', 'suspended', 'released']).openapi({
        description:
          '`suspended`: the processes are in a checkpoint and use no memory. `released`: the container has no sandbox, and the next call gets one with its variables and files; `lost` of its result names what could not be kept.',
      }),
      checkpoint_bytes: z.int().nullable().openapi({ description: 'Counts as storage of the account. Null unless suspended.' }),
    })
    .openapi('ContainerProcesses'),
)

const render = (id: string, { state, checkpointBytes }: ContainerProcesses): Described<typeof Processes> => ({
  object: 'container.processes',
  container_id: id,
  state,
  checkpoint_bytes: checkpointBytes,
})

const answers = { 200: { description: 'What the container has now.', schema: Processes } } as const
const COMMON = { auth: 'session', scope: 'run', tag: TAG, answers } as const

const suspendRoute = defineRoute({
  ...COMMON,
  method: 'post',
  path: '/v1/containers/{container_id}/suspend',
  operationId: 'suspendContainer',
  summary: 'Suspend a container',
  description:
    'Keeps the processes of a container on disk: variables, threads, servers, language sessions, open files, commands. The next call that needs its sandbox resumes it. Needs a server on one machine with `--runtime gvisor`.',
  errors: ['container_not_found', 'conflict', 'sandbox_unavailable'],
  handle: async (call) => answer(call, suspendContainer),
})

const resumeRoute = defineRoute({
  ...COMMON,
  method: 'post',
  path: '/v1/containers/{container_id}/resume',
  operationId: 'resumeContainer',
  summary: 'Resume a container',
  description: 'Continues the processes of a suspended container before its next call.',
  errors: ['container_not_found', 'conflict', 'concurrency_limit_reached', 'sandbox_unavailable'],
  handle: async (call) => answer(call, resumeContainer),
})

async function answer(call: Call, act: typeof suspendContainer): Promise<Response> {
  const container = await containerOf(call, call.param('container_id'), 'run')
  return json(200, render(container.id, await act(call.deps, container, call.request.signal)))
}

export const suspensionRoutes: readonly AnyRoute[] = [suspendRoute, resumeRoute]
