import { describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { readTaskEvent } from '../../../services/adapters/drivers/fargate/task-event.ts'

const startedBy = newId('sandbox')
const event = (detail: object) => ({
  version: '0',
  'detail-type': 'ECS Task State Change',
  source: 'aws.ecs',
  detail: {
    taskArn: 'arn:aws:ecs:eu-west-1:1:task/c/1',
    startedBy,
    lastStatus: 'RUNNING',
    desiredStatus: 'RUNNING',
    attachments: [{ id: '1', type: 'eni', status: 'ATTACHED', details: [{ name: 'privateIPv4Address', value: '10.0.0.9' }] }],
    containers: [{ name: 'sandbox', lastStatus: 'RUNNING', networkInterfaces: [{ privateIpv4Address: '10.0.0.9' }] }],
    createdAt: '2026-01-01T00:00:00Z',
    version: 3,
    ...detail,
  },
})

describe('a task state change', () => {
  const ready = { phase: 'ready', address: { kind: 'tcp', host: '10.0.0.9', port: 8700 } }
  it('of a running task holds its address, in either form', () => {
    const expected = { sandboxId: startedBy, platformId: 'arn:aws:ecs:eu-west-1:1:task/c/1', status: ready }
    expect(readTaskEvent(event({}))).toEqual(expected)
    expect(readTaskEvent(event({ attachments: [] }))).toEqual(expected)
    expect(readTaskEvent(event({ containers: [{}] }))).toEqual(expected)
  })

  it('of a task that ended holds its exit code and reason', () => {
    const detail = {
      desiredStatus: 'STOPPED',
      lastStatus: 'DEPROVISIONING',
      stopCode: 'EssentialContainerExited',
      stoppedReason: 'Essential container in task exited',
      containers: [
        { name: 'aws-guardduty-agent-1', exitCode: 0 },
        { name: 'sandbox', exitCode: 86 },
      ],
    }
    expect(readTaskEvent(event(detail))?.status).toMatchObject({ phase: 'gone', reason: 'refused', exitCode: 86 })
  })

  it.each([
    ['the schedule', { kind: 'pass' }],
    ['nothing', null],
    ['a task of another program', event({ startedBy: 'ecs-svc/1234' })],
    ['another event', { ...event({}), 'detail-type': 'ECS Service Action' }],
    ['an event of an unknown shape', event({ containers: 'none' })],
  ])('is not read from %s', (_, value) => expect(readTaskEvent(value)).toBeNull())
})
