import { expect, it } from 'vitest'
import { runShell } from '../../../services/workers/turn/shell-call.ts'
import { Turn } from '../../../services/workers/turn/turn.ts'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import type { ResponseEvent } from '../../../services/model/events.ts'
import { newId } from '../../../services/model/ids.ts'
import type { ResponseRecord } from '../../../services/model/responses/response.ts'
import type { ShellCallItem } from '../../../services/model/responses/items/shell-call.ts'
import { emptyResult } from '../../support/finish-execution.ts'
import { containerRow, responseRequest, responseRow } from '../../support/rows.ts'
import { ReconcileFixture } from '../orchestrator/reconcile-fixture.ts'

const fixture = new ReconcileFixture()
const COMMANDS = ['echo one', 'echo two; sleep 9; echo three']

/** A worker that runs the shell call of a row until `stop`; what it has written stays. */
function startWorker(row: ResponseRecord, logged: readonly ResponseEvent[] | null) {
  const turn = new Turn(fixture.deps, row, logged, null, () => undefined)
  const stop = new AbortController()
  const change = runShell(fixture.deps as unknown as TurnDeps, turn, 0, {
    signal: stop.signal,
    emit: (event, priority) => turn.emit(event, priority),
  })
  return {
    turn,
    change,
    async die() {
      turn.log.close()
      stop.abort()
      await change
    },
  }
}

it('streams each part of a shell call once, although two workers die while it runs', async () => {
  const { table } = fixture.storage
  const [tenant, containerId] = [newId('tenant'), newId('container')]
  await table.containers.create(containerRow({ tenant, id: containerId, dueAt: fixture.now + 60_000 }))
  const call: ShellCallItem = {
    type: 'shell_call',
    id: 'sh_1',
    callId: 'call_1',
    status: 'in_progress',
    arguments: JSON.stringify({ commands: COMMANDS }),
    containerId,
  }
  const request = responseRequest({ stream: true, tools: [{ type: 'shell' }] })
  const started = { createdAt: fixture.now, status: 'in_progress', nextSeq: 5, fence: 1, items: [call], containerId, request } as const
  const row = responseRow({ tenant, ...started })
  const events = () => table.events.read<ResponseEvent>({ kind: 'response', tenant, id: row.id }, 4, 1_000)
  const printed = async () => JSON.stringify((await events()).map(({ data }) => data['delta'] ?? null))
  // The list is ordered by milliseconds, in which both commands of a call may have their place.
  const command = async (position: number): Promise<string> => {
    const named = async () =>
      (await table.executions.listCommands(tenant, containerId, { after: null, limit: 9, order: 'asc' })).rows.find(
        ({ source }) => source.kind === 'command' && source.argv.includes(COMMANDS[position] ?? ''),
      )
    await expect.poll(named).toBeDefined()
    return (await named())?.id ?? ''
  }
  const print = (id: string, seq: number, text: string) =>
    table.events.append(
      { kind: 'execution', tenant, id },
      {
        firstSeq: seq,
        events: [{ seq, at: fixture.now, type: 'stdout', cell: 0, text } satisfies ExecutionEvent],
        fence: 1,
        sourceSeq: null,
      },
    )
  const end = async (id: string, stdout: string) => {
    const acquired = await table.executions.acquireLease(tenant, id, { owner: 'worker', now: fixture.now, expiresAt: fixture.now + 30_000 })
    if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
    const result = { ...emptyResult, stdout, exit: { code: 0, signal: null } }
    await table.executions.commit(tenant, id, acquired.row.fence, { status: 'succeeded', endedAt: fixture.now, result, tailEvents: [] })
    fixture.deps.signals.notify(`execution:${id}`)
  }

  const first = startWorker(row, null)
  const one = await command(0)
  await print(one, 1, 'one\n')
  await end(one, 'one\n')
  const two = await command(1)
  await print(two, 1, 'two\n')
  await expect.poll(printed).toContain('two')
  await first.die()

  const second = startWorker({ ...row, fence: 2 }, await events())
  await print(two, 2, 'three\n')
  await expect.poll(printed).toContain('three')
  const { items, log } = { items: second.turn.state.items, log: second.turn.log }
  expect(items).toMatchObject([{ type: 'shell_call' }, { type: 'shell_call_output', status: 'in_progress' }])
  const nextSeq = log.nextSeq
  await second.die()

  // The second worker had committed its items before it died, so the row covers what it wrote.
  const third = startWorker({ ...row, fence: 3, items, nextSeq }, [])
  await end(two, 'two\nthree\n')
  third.turn.apply(await third.change)
  await third.turn.log.end(32_768).then(async (tail) => {
    const all = [...(await events()), ...tail.events].filter(({ type }) => !type.startsWith('response.x_'))
    const of = (suffix: string, index: number) => all.filter(({ type, data }) => type.endsWith(suffix) && data['output_index'] === index)
    expect(of('output_item.done', 0)).toHaveLength(1)
    expect(of('output_item.added', 1)).toHaveLength(1)
    expect(of('content.delta', 1).map(({ data }) => data['delta'])).toEqual([
      { stdout: 'one\n' },
      { stdout: 'two\n' },
      { stdout: 'three\n' },
    ])
    expect(of('content.done', 1).map(({ data }) => data['command_index'])).toEqual([0, 1])
    expect(of('output_item.done', 1).map(({ data }) => (data['item'] as { status: string }).status)).toEqual(['completed'])
  })
})
