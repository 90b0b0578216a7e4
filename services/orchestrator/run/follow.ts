import type { ExecutionEventPayload } from '../../core/events.ts'
import type { Execution } from '../../core/executions/execution.ts'
import { derivedObjectKey } from '../../core/object-keys.ts'
import { displayOutput, type OutputAssembler } from '../../core/executions/output-assembler.ts'
import type { SupervisorEnvelope, SupervisorEvent } from '../../core/ports/supervisor.ts'
import type { RunDeps } from '../deps.ts'
import type { EventLogWriter } from '../../jobs/event-log-writer.ts'
import { spillBundle } from './spill-outputs.ts'

/**
 * Reads a supervisor's events into the assembler and, those after `storedThrough`, into the event log. Returns the envelope; null when the
 * stream ended without one. `secret` is the sandbox's: with it the objects of big outputs have keys that a successor finds again.
 */
export async function followEvents(
  deps: RunDeps,
  row: Execution,
  stream: AsyncIterable<SupervisorEvent>,
  assembler: OutputAssembler,
  log: EventLogWriter<ExecutionEventPayload>,
  storedThrough: number,
  secret: string,
): Promise<SupervisorEnvelope | null> {
  for await (const raw of stream) {
    if (raw.type === 'done') return raw
    const event = await spilled(deps, row, raw, secret, raw.seq <= storedThrough)
    assembler.add(event)
    if (event.seq <= storedThrough) continue
    const fact = factOf(event, assembler)
    if (fact !== null) log.emit(fact, 'paced', event.seq)
  }
  return null
}

async function spilled(deps: RunDeps, row: Execution, event: SupervisorEvent, secret: string, isStored: boolean): Promise<SupervisorEvent> {
  if (event.type !== 'display' && event.type !== 'update_display') return event
  const keyOf = (mime: string): string => derivedObjectKey(row.tenant, 'outputs', row.containerId, secret, `${row.id} ${event.seq} ${mime}`)
  return { ...event, data: await spillBundle(deps.objects, event.data, { keyOf, isStored }) }
}

function factOf(event: SupervisorEvent, assembler: OutputAssembler): ExecutionEventPayload | null {
  switch (event.type) {
    case 'stream':
      return { type: event.name, cell: assembler.cellIndex(event.index), text: event.text }
    case 'display':
      return {
        type: 'output',
        cell: assembler.cellIndex(event.index),
        output: displayOutput(event),
        ...(event.displayId === null ? {} : { displayId: event.displayId }),
      }
    case 'update_display':
      return {
        type: 'output',
        cell: assembler.cellIndex(event.index),
        displayId: event.displayId,
        replaces: true,
        output: { output_type: 'display_data', data: event.data, metadata: event.metadata },
      }
    case 'clear_output':
      return { type: 'clear', cell: assembler.cellIndex(event.index), wait: event.wait }
    case 'error':
      return {
        type: 'output',
        cell: assembler.cellIndex(event.index),
        output: { output_type: 'error', ename: event.name, evalue: event.value, traceback: event.traceback },
      }
    case 'started':
    case 'cell_started':
    case 'cell_done':
    case 'done':
      return null
  }
}
