import { singleImage } from '../../services/model/containers/images.ts'
import type { Task } from '@aws-sdk/client-ecs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SandboxDriver } from '../../services/ports/sandbox-driver.ts'
import { createFargateDriver, type FargateDriverOptions } from '../../services/adapters/drivers/fargate/fargate-driver.ts'
import { idsOf, newSpec, sandboxDriverContract } from '../contract/sandbox-driver.ts'
import { startScriptedEcs, type ScriptedEcs } from '../support/scripted-ecs.ts'

let ecs: ScriptedEcs
const soon = (): AbortSignal => AbortSignal.timeout(10_000)
const newDriver = (options: Partial<FargateDriverOptions> = {}): SandboxDriver =>
  createFargateDriver({
    ecs: ecs.client,
    cluster: 'c',
    images: singleImage('repo/sandbox:1'),
    subnets: ['subnet-a', 'subnet-b'],
    securityGroups: ['sg-1'],
    pollMs: 5,
    taskDefinitions: { slim: { '1g': 'arn:aws:ecs:eu-west-1:1:task-definition/cellblock-sandbox-1g:7', '4g': 'cellblock-sandbox-4g:3' } },
    ...options,
  })

beforeAll(async () => {
  ecs = await startScriptedEcs()
})
afterAll(() => ecs.close())

/** Starts a sandbox and sets its task to `seen`. */
const startShown = async (driver: SandboxDriver, seen: Partial<Task>): Promise<string> => {
  const spec = newSpec()
  await driver.start(spec, soon())
  const [arn, task] = [...ecs.tasks].find(([, known]) => known.startedBy === spec.sandboxId) ?? []
  if (arn === undefined) throw new Error('No task was started.')
  ecs.tasks.set(arn, { ...task, ...seen })
  return spec.sandboxId
}

describe('with slow tasks', () => {
  beforeAll(() => {
    ecs.pendingDescribes = 20
  })
  afterAll(() => {
    ecs.pendingDescribes = 0
  })
  sandboxDriverContract('fargate', newDriver)
})

describe('the Fargate driver', () => {
  beforeEach(() => {
    ecs.calls.length = 0
    ecs.tasks.clear()
  })

  it('requests one isolated task with the sandbox id as its client token', async () => {
    const spec = newSpec()
    await newDriver().start(spec, soon())
    expect(ecs.calls).toEqual([
      {
        action: 'RunTask',
        input: {
          cluster: 'c',
          taskDefinition: 'arn:aws:ecs:eu-west-1:1:task-definition/cellblock-sandbox-1g:7',
          count: 1,
          clientToken: spec.sandboxId,
          startedBy: spec.sandboxId,
          tags: [{ key: 'cellblock:sandbox', value: spec.sandboxId }],
          propagateTags: 'TASK_DEFINITION',
          enableExecuteCommand: false,
          networkConfiguration: {
            awsvpcConfiguration: { subnets: ['subnet-a', 'subnet-b'], securityGroups: ['sg-1'], assignPublicIp: 'DISABLED' },
          },
          overrides: {
            containerOverrides: [
              {
                name: 'sandbox',
                environment: [
                  { name: 'CELLBLOCK_SANDBOX_ID', value: spec.sandboxId },
                  { name: 'CELLBLOCK_PUBLIC_KEY', value: spec.publicKey },
                ],
              },
            ],
          },
        },
      },
    ])
  })

  it('treats a conflict as a sandbox started by an earlier delivery', async () => {
    ecs.answer('RunTask', 400, {
      __type: 'ConflictException',
      message: 'The token was used with other parameters.',
      resourceIds: ['arn:aws:ecs:eu-west-1:1:task/c/x'],
    })
    await expect(newDriver().start(newSpec(), soon())).resolves.toBeUndefined()
  })

  it.each([
    [
      'capacity',
      {
        failures: [{ reason: 'Capacity is unavailable at this time. Please try again later or in a different availability zone' }],
        tasks: [],
      },
    ],
    ['capacity', { failures: [{ reason: 'RESOURCE:ENI' }], tasks: [] }],
    ['capacity', { failures: [{ reason: "You've reached the limit on the number of vCPUs you can run concurrently" }], tasks: [] }],
    ['configuration', { failures: [{ arn: 'arn:aws:ecs:eu-west-1:1:task-definition/x', reason: 'MISSING' }], tasks: [] }],
    ['unavailable', { failures: [], tasks: [] }],
    ['unavailable', {}],
  ])('reports %s when RunTask returns 200 without a task: %j', async (kind, body) => {
    ecs.answer('RunTask', 200, body)
    await expect(newDriver().start(newSpec(), soon())).rejects.toMatchObject({ name: 'DriverError', kind })
  })

  it.each([
    ['throttled', 400, 'ThrottlingException', 'Rate exceeded'],
    ['throttled', 400, 'ClientException', 'Too many concurrent attempts to create a new task. Please try again later.'],
    ['capacity', 400, 'ClientException', "You've reached the limit on the number of tasks you can run concurrently"],
    ['capacity', 400, 'LimitExceededException', 'Too much.'],
    ['configuration', 400, 'AccessDeniedException', 'User is not authorized to perform: ecs:RunTask'],
    ['configuration', 400, 'ClusterNotFoundException', 'Cluster not found.'],
    ['configuration', 400, 'InvalidParameterException', 'No Container Instances were found in your capacity provider.'],
    ['configuration', 400, 'ClientException', 'TaskDefinition is inactive'],
    ['configuration', 400, 'BlockedException', 'Your AWS account was blocked.'],
    ['unavailable', 500, 'ServerException', 'Service is temporarily unavailable.'],
  ])('reports %s for HTTP %i %s: %s', async (kind, status, type, message) => {
    ecs.answer('RunTask', status, { __type: type, message })
    await expect(newDriver().start(newSpec(), soon())).rejects.toMatchObject({
      name: 'DriverError',
      kind,
      message: expect.stringContaining(message),
    })
  })

  it('refuses a tier that the stack does not have', async () => {
    await expect(newDriver().start({ ...newSpec(), memoryTier: '64g' }, soon())).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('64g'),
    })
    expect(ecs.calls).toEqual([])
  })

  it.each<[string, Partial<Task>, object]>([
    ['pending', { lastStatus: 'PENDING' }, { phase: 'starting' }],
    ['running without an address yet', { attachments: [] }, { phase: 'starting' }],
    ['asked to stop, nothing known yet', { desiredStatus: 'STOPPED', lastStatus: 'DEPROVISIONING' }, { phase: 'starting' }],
    [
      'stopped by a failed isolation check',
      {
        desiredStatus: 'STOPPED',
        lastStatus: 'STOPPED',
        stopCode: 'EssentialContainerExited',
        containers: [{ name: 'sandbox', exitCode: 86 }],
      },
      { phase: 'gone', reason: 'refused', exitCode: 86 },
    ],
    [
      'stopped by a failed isolation check, with the agent of GuardDuty beside it',
      {
        desiredStatus: 'STOPPED',
        lastStatus: 'STOPPED',
        containers: [
          { name: 'aws-guardduty-agent-1', exitCode: 0, reason: 'agent' },
          { name: 'sandbox', exitCode: 86 },
        ],
      },
      { phase: 'gone', reason: 'refused', exitCode: 86 },
    ],
    [
      'out of memory',
      {
        desiredStatus: 'STOPPED',
        lastStatus: 'STOPPED',
        containers: [{ name: 'sandbox', exitCode: 137, reason: 'OutOfMemoryError: Container killed due to memory usage' }],
      },
      { phase: 'gone', reason: 'oom', exitCode: 137 },
    ],
    [
      'ended by SIGTERM',
      { desiredStatus: 'STOPPED', lastStatus: 'STOPPED', containers: [{ name: 'sandbox', exitCode: 143 }] },
      { phase: 'gone', reason: 'stopped', exitCode: 143 },
    ],
    [
      'taken back by Spot',
      { desiredStatus: 'STOPPED', lastStatus: 'STOPPED', stopCode: 'SpotInterruption', containers: [{ name: 'sandbox', exitCode: 137 }] },
      { phase: 'gone', reason: 'lost', exitCode: 137 },
    ],
    [
      'without its image',
      {
        desiredStatus: 'STOPPED',
        lastStatus: 'STOPPED',
        stopCode: 'TaskFailedToStart',
        stoppedReason: 'CannotPullContainerError: i/o timeout',
        containers: [{}],
      },
      { phase: 'gone', reason: 'lost', exitCode: null, detail: 'CannotPullContainerError: i/o timeout' },
    ],
  ])('reports the status of a task that is %s', async (_what, seen, expected) => {
    const driver = newDriver()
    expect(await driver.inspect(await startShown(driver, seen))).toMatchObject(expected)
  })

  it.each(['SpotInterruption', 'TerminationNotice'] as const)('reports that a task runs on for two minutes after %s', async (stopCode) => {
    const driver = newDriver()
    const seen = { desiredStatus: 'STOPPED', lastStatus: 'RUNNING', stopCode, stoppedReason: 'Your Spot Task was interrupted.' }
    const id = await startShown(driver, seen)
    expect(await driver.inspect(id)).toMatchObject({ phase: 'ready', isInterrupted: true, address: { kind: 'tcp', port: 8700 } })
    const own = await startShown(driver, { desiredStatus: 'STOPPED', lastStatus: 'RUNNING', stopCode: 'UserInitiated' })
    expect(await driver.inspect(own)).toMatchObject({ phase: 'gone', reason: 'stopped' })
  })

  it('reports ready with the private address, after the health check if there is one', async () => {
    const driver = newDriver({ waitsForHealth: true })
    const id = await startShown(driver, { healthStatus: 'UNKNOWN' })
    expect(await driver.inspect(id)).toEqual({ phase: 'starting' })
    expect(await newDriver().inspect(id)).toMatchObject({
      phase: 'ready',
      address: { kind: 'tcp', host: expect.stringMatching(/^10\.0\.0\./), port: 8700 },
    })
    const waiting = driver.waitReady(id, soon())
    for (const [arn, task] of ecs.tasks) ecs.tasks.set(arn, { ...task, healthStatus: 'HEALTHY' })
    expect(await waiting).toMatchObject({ phase: 'ready' })
  })

  it('does not report a task as gone that ECS does not list yet', async () => {
    const spec = newSpec()
    const driver = newDriver()
    await driver.start(spec, soon())
    const [[arn, task]] = [...ecs.tasks] as [[string, Task]]
    ecs.tasks.clear()
    expect(await driver.inspect(spec.sandboxId)).toEqual({ phase: 'starting' })
    const waiting = driver.waitReady(spec.sandboxId, soon())
    ecs.tasks.set(arn, task)
    expect((await waiting).phase).toBe('ready')
    const later = newDriver({ clock: { now: () => Date.now() + 120_000 } })
    ecs.tasks.clear()
    expect(await later.inspect(spec.sandboxId)).toMatchObject({ phase: 'gone', reason: 'lost' })
  })

  it('finds a stopped task started by another process', async () => {
    const id = await startShown(newDriver(), {
      desiredStatus: 'STOPPED',
      lastStatus: 'STOPPED',
      containers: [{ name: 'sandbox', exitCode: 86 }],
      startedBy: undefined,
    })
    for (const [arn, task] of ecs.tasks) ecs.tasks.set(arn, { ...task, startedBy: id, group: 'family:cellblock-sandbox-4g' })
    expect(await newDriver().inspect(id)).toMatchObject({ phase: 'gone', reason: 'refused' })
  })

  it.each([
    ['asks it to slow down', 400, 'ThrottlingException'],
    ['has a fault', 500, 'ServerException'],
  ])('keeps waiting while ECS %s', async (_, status, type) => {
    const driver = newDriver()
    const id = await startShown(driver, {})
    ecs.answer('DescribeTasks', status, { __type: type, message: 'Rate exceeded' })
    expect((await driver.waitReady(id, soon())).phase).toBe('ready')
  })

  it('stops a task that ECS does not list yet', async () => {
    const driver = newDriver()
    const spec = newSpec()
    await driver.start(spec, soon())
    ecs.tasks.clear()
    await driver.stop(spec.sandboxId)
    expect(ecs.calls.map((call) => call.action)).toEqual(['RunTask', 'StopTask'])
  })

  it('stops the task of the sandbox and treats "not found" as stopped', async () => {
    const driver = newDriver()
    const id = await startShown(driver, {})
    ecs.answer('StopTask', 400, { __type: 'InvalidParameterException', message: 'The referenced task was not found.' })
    await expect(driver.stop(id)).resolves.toBeUndefined()
    await driver.stop(id)
    expect(ecs.calls.filter((call) => call.action === 'StopTask').map((call) => call.input['task'])).toEqual(
      Array(2).fill(`arn:aws:ecs:eu-west-1:1:task/c/${id}`),
    )
    expect(await driver.inspect(id)).toMatchObject({ phase: 'gone', reason: 'stopped' })
  })

  it('reads the status of many sandboxes with one call per hundred', async () => {
    const driver = newDriver()
    const refs: { id: string; platformId: string | undefined }[] = []
    for (let count = 0; count < 120; count++) {
      const spec = newSpec()
      refs.push({ id: spec.sandboxId, platformId: await driver.start(spec, soon()) })
    }
    ecs.tasks.delete(refs[7]?.platformId ?? '')
    ecs.calls.length = 0
    const statuses = await newDriver().inspectAll(refs.map(({ id, platformId = 'none' }) => ({ id, platformId })))
    expect(ecs.calls.map(({ action, input }) => [action, (input['tasks'] as string[]).length])).toEqual([
      ['DescribeTasks', 100],
      ['DescribeTasks', 20],
    ])
    expect(statuses.map(({ phase }) => phase)).toEqual(refs.map((_, index) => (index === 7 ? 'starting' : 'ready')))
  })

  it('stops a sandbox of a known task with one call', async () => {
    const driver = newDriver()
    const spec = newSpec()
    const arn = await driver.start(spec, soon())
    ecs.calls.length = 0
    await newDriver().stop(spec.sandboxId, arn)
    expect(ecs.calls).toEqual([expect.objectContaining({ action: 'StopTask', input: expect.objectContaining({ task: arn }) })])
  })

  it('does not describe tasks that the caller knows when it lists', async () => {
    const driver = newDriver()
    const known = await driver.start(newSpec(), soon())
    const spec = newSpec()
    await driver.start(spec, soon())
    ecs.calls.length = 0
    const listed: string[] = []
    for await (const id of newDriver().list(new Set([known ?? '']))) listed.push(id)
    expect(listed).toEqual([spec.sandboxId])
    expect(ecs.calls.filter(({ action }) => action === 'DescribeTasks').map(({ input }) => input['tasks'])).toEqual([
      [`arn:aws:ecs:eu-west-1:1:task/c/${spec.sandboxId}`],
    ])
  })

  it('lists only its own tasks, page by page', async () => {
    const driver = newDriver()
    const id = await startShown(driver, { group: 'family:cellblock-sandbox-1g' })
    ecs.tasks.set('other', {
      taskArn: 'other',
      startedBy: 'another-service',
      group: 'family:cellblock-sandbox-1g',
      desiredStatus: 'RUNNING',
    })
    ecs.answer('ListTasks', 200, { taskArns: ['other'], nextToken: 'more' })
    expect(await idsOf(driver)).toEqual([id])
    expect(ecs.calls.find((call) => call.input['nextToken'] === 'more')).toBeDefined()
  })

  it('rejects its check with a configuration error for a missing tier and for a missing cluster', async () => {
    await expect(newDriver({ taskDefinitions: { slim: {} } }).check()).rejects.toMatchObject({ kind: 'configuration' })
    ecs.answer('ListTasks', 400, { __type: 'ClusterNotFoundException', message: 'Cluster not found.' })
    await expect(newDriver().check()).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('Cluster not found'),
    })
  })
})
