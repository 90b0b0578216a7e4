import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 250
const REGION = 'us-east-1'

type Json = Readonly<Record<string, unknown>>
interface ShownTask {
  readonly taskArn: string
  readonly clusterArn: string
  readonly lastStatus: string
  readonly desiredStatus: string
}

/**
 * Sends the state changes of tasks to the functions of the deployed rules. The emulator has both services but no events of tasks. It decides with
 * the rules' own patterns which change each one gets.
 */
export function relayTaskEvents(endpoint: string): {
  /** What ECS announces two minutes before it takes a Spot task back; the caller sends the signal. */
  interrupt(taskArn: string): Promise<void>
  stop(): Promise<void>
} {
  const ended = new AbortController()
  const call = async (target: string, input: object): Promise<Json> => {
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'x-amz-target': target,
        'content-type': 'application/x-amz-json-1.1',
        authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/${target.startsWith('AWSEvents') ? 'events' : 'ecs'}/aws4_request`,
      },
      body: JSON.stringify(input),
      signal: ended.signal,
    })
    return (await answer.json()) as Json
  }
  const ecs = (action: string, input: object) => call(`AmazonEC2ContainerServiceV20141113.${action}`, input)
  const events = (action: string, input: object) => call(`AWSEvents.${action}`, input)
  const shown = new Map<string, string>()

  const send = async (task: ShownTask): Promise<void> => {
    const event = {
      version: '0',
      id: crypto.randomUUID(),
      'detail-type': 'ECS Task State Change',
      source: 'aws.ecs',
      account: task.taskArn.split(':')[4],
      time: new Date().toISOString(),
      region: REGION,
      resources: [task.taskArn],
      detail: task,
    }
    const { Rules = [] } = (await events('ListRules', {})) as { Rules?: { Name: string; EventPattern?: string }[] }
    for (const { Name, EventPattern } of Rules) {
      if (EventPattern === undefined || EventPattern === '') continue
      const { Result } = await events('TestEventPattern', { EventPattern, Event: JSON.stringify(event) })
      if (Result !== true) continue
      const { Targets = [] } = (await events('ListTargetsByRule', { Rule: Name })) as { Targets?: { Arn: string }[] }
      for (const { Arn } of Targets)
        await fetch(`${endpoint}/2015-03-31/functions/${Arn.split(':').at(-1)}/invocations`, {
          method: 'POST',
          body: JSON.stringify(event),
          signal: ended.signal,
        })
    }
  }

  const poll = async (): Promise<void> => {
    const { clusterArns = [] } = (await ecs('ListClusters', {})) as { clusterArns?: string[] }
    for (const cluster of clusterArns)
      for (const desiredStatus of ['RUNNING', 'STOPPED']) {
        const { taskArns = [] } = (await ecs('ListTasks', { cluster, desiredStatus })) as { taskArns?: string[] }
        const known = taskArns.filter((arn) => shown.get(arn) !== 'STOPPED')
        if (known.length === 0) continue
        const { tasks = [] } = (await ecs('DescribeTasks', { cluster, tasks: known.slice(0, 100) })) as { tasks?: ShownTask[] }
        for (const task of tasks) {
          const state = task.lastStatus === 'STOPPED' ? 'STOPPED' : `${task.lastStatus} ${task.desiredStatus}`
          if (shown.get(task.taskArn) === state) continue
          shown.set(task.taskArn, state)
          await send(task)
        }
      }
  }

  const running = (async () => {
    while (!ended.signal.aborted) {
      // The emulator may be busy with a deployment; the next poll sees the same tasks.
      await poll().catch(() => undefined)
      await delay(POLL_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    }
  })()
  return {
    async interrupt(taskArn) {
      const cluster = taskArn.split('/').at(-2)
      const { tasks = [] } = (await ecs('DescribeTasks', { cluster, tasks: [taskArn] })) as { tasks?: ShownTask[] }
      const [task] = tasks
      if (task === undefined) throw new Error(`The emulator has no task ${taskArn}.`)
      const notice = { desiredStatus: 'STOPPED', stopCode: 'SpotInterruption', stoppedReason: 'Your Spot Task was interrupted.' }
      await send({ ...task, ...notice })
    },
    async stop() {
      ended.abort()
      await running
    },
  }
}
