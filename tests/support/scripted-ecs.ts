import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ECSClient, type Task } from '@aws-sdk/client-ecs'

export type Action = 'RunTask' | 'StopTask' | 'DescribeTasks' | 'ListTasks' | 'DescribeTaskDefinition'
export type Json = Record<string, unknown>

export interface ScriptedEcs {
  readonly client: ECSClient
  /** Every call in order. */
  readonly calls: { readonly action: Action; readonly input: Json }[]
  /** Tasks by ARN, as DescribeTasks shows them. */
  readonly tasks: Map<string, Task>
  /** The number of times that a new task is listed as PENDING before it runs. */
  pendingDescribes: number
  /** The exit code of a task with this input; null: it keeps running. */
  exits: (input: Json) => number | null
  /** Replaces the reply of a call, which then changes nothing. `reply_lost`: the call is done, and the connection breaks. */
  disturb: (action: Action, input: Json) => { readonly status: number; readonly body: Json } | 'reply_lost' | null
  /** Replaces the reply of the next call of this action, which then changes nothing. */
  answer(action: Action, status: number, body: Json): void
  close(): Promise<void>
}

/** A small ECS on a real HTTP port for the real SDK, which makes `maxAttempts` attempts per call. */
export async function startScriptedEcs({ maxAttempts = 1 } = {}): Promise<ScriptedEcs> {
  const calls: { action: Action; input: Json }[] = []
  const tasks = new Map<string, Task>()
  const scripted = new Map<Action, { status: number; body: Json }[]>()
  const describeCounts = new Map<string, number>()
  const settings: Pick<ScriptedEcs, 'pendingDescribes' | 'exits' | 'disturb'> = {
    pendingDescribes: 0,
    exits: () => null,
    disturb: () => null,
  }
  let addresses = 0

  /** The task in its present state. */
  const shown = (arn: string): Task[] => {
    const task = tasks.get(arn)
    const seen = describeCounts.get(arn) ?? 0
    describeCounts.set(arn, seen + 1)
    if (!task) return []
    return [task.lastStatus === 'RUNNING' && seen < settings.pendingDescribes ? { ...task, lastStatus: 'PENDING' } : task]
  }

  const actions: Record<Action, (input: Json) => Json> = {
    RunTask(input) {
      const taskArn = `arn:aws:ecs:eu-west-1:1:task/c/${String(input['clientToken'])}`
      const family = String(input['taskDefinition']).replace(/^.*\//, '').replace(/:\d+$/, '')
      if (!tasks.has(taskArn)) {
        const task = runningTask({ taskArn, startedBy: String(input['startedBy']), group: `family:${family}` }, `10.0.0.${++addresses}`)
        const exitCode = settings.exits(input)
        tasks.set(taskArn, exitCode === null ? task : stoppedTask(task, exitCode))
      }
      return { tasks: [tasks.get(taskArn)], failures: [] }
    },
    StopTask(input) {
      const task = tasks.get(String(input['task']))
      if (task) tasks.set(String(input['task']), { ...task, desiredStatus: 'STOPPED', stopCode: 'UserInitiated' })
      return { task }
    },
    DescribeTasks(input) {
      const arns = input['tasks'] as string[]
      return { tasks: arns.flatMap(shown), failures: arns.filter((arn) => !tasks.has(arn)).map((arn) => ({ arn, reason: 'MISSING' })) }
    },
    DescribeTaskDefinition({ taskDefinition }) {
      return {
        taskDefinition: {
          taskDefinitionArn: taskDefinition,
          containerDefinitions: [
            { name: 'sandbox', image: '123456789012.dkr.ecr.eu-west-1.amazonaws.com/cellblock-prod/sandbox:0123456789ab-standard' },
          ],
        },
      }
    },
    ListTasks({ startedBy, family, desiredStatus = 'RUNNING' }) {
      const found = [...tasks.values()].filter(
        (task) =>
          task.desiredStatus === desiredStatus &&
          (startedBy === undefined || task.startedBy === startedBy) &&
          (family === undefined || task.group === `family:${String(family)}`),
      )
      return { taskArns: found.map((task) => task.taskArn) }
    },
  }

  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const action = String(request.headers['x-amz-target']).split('.').at(-1) as Action
      const input = JSON.parse(Buffer.concat(parts).toString()) as Json
      calls.push({ action, input })
      const planned = scripted.get(action)?.shift() ?? settings.disturb(action, input)
      const said = planned === null || planned === 'reply_lost' ? { status: 200, body: actions[action](input) } : planned
      if (planned === 'reply_lost') return void response.destroy()
      response.writeHead(said.status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(said.body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new ECSClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts,
  })
  return Object.assign(settings, {
    client,
    calls,
    tasks,
    answer: (action: Action, status: number, body: Json): void =>
      void scripted.set(action, [...(scripted.get(action) ?? []), { status, body }]),
    async close(): Promise<void> {
      client.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

export const stoppedTask = (task: Task, exitCode: number): Task => ({
  ...task,
  desiredStatus: 'STOPPED',
  lastStatus: 'STOPPED',
  stopCode: 'EssentialContainerExited',
  stoppedReason: 'Essential container in task exited',
  containers: [{ name: 'sandbox', lastStatus: 'STOPPED', exitCode }],
})

export const runningTask = (task: Task, address: string): Task => ({
  ...task,
  desiredStatus: 'RUNNING',
  lastStatus: 'RUNNING',
  healthStatus: 'UNKNOWN',
  containers: [{ name: 'sandbox', lastStatus: 'RUNNING' }],
  attachments: [
    {
      type: 'ElasticNetworkInterface',
      status: 'ATTACHED',
      details: [
        { name: 'subnetId', value: 'subnet-a' },
        { name: 'privateIPv4Address', value: address },
      ],
    },
  ],
})
