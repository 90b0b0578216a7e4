import type { Container } from '../../../model/containers/container.ts'
import { isFileOperation } from '../../../model/executions/command-arguments.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import { workKindOf } from '../../../model/executions/work-kinds.ts'
import type { OutputAssembler } from '../../../model/executions/output-assembler.ts'
import type { SupervisorEnvelope } from '../../../ports/supervisor.ts'
import type { SandboxSession } from '../../../model/sandboxes/sandbox.ts'
import type { RunDeps } from '../../deps.ts'
import type { Collected } from '../transfer/collect-files.ts'
import { requestsDuring } from '../../../operations/network/requests-during.ts'
import { endExecution, MAX_INLINE_TAIL_BYTES } from '../../../operations/executions/end-execution.ts'
import type { ExecutionLog } from '../stream/execution-log.ts'
import { endOf, leftOutOf, lostIn } from '../transfer/losses.ts'
import { resultOf } from './result-of.ts'

/** Writes the last events, then the one terminal state. Throws LeaseLostError. */
export async function commitResult(
  deps: RunDeps,
  run: {
    readonly row: Execution
    readonly container: Container
    readonly session: SandboxSession
    readonly assembler: OutputAssembler
    readonly log: ExecutionLog
    readonly envelope: SupervisorEnvelope
    readonly collected: Collected
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { row, container, session, assembler, envelope, collected, signal } = run
  const { writer } = run.log
  const end = endOf(envelope.outcome)
  // The answer of a file operation shows no losses.
  const isOperation = row.source.kind === 'command' && isFileOperation(row.source.argv)
  const lostFiles = isOperation ? [] : (container.lostFiles ?? [])
  const network = isOperation ? null : await requestsDuring(deps, container, row.startedAt ?? row.createdAt)
  const lost = [...row.lostBefore, ...lostFiles, ...lostIn(envelope), ...leftOutOf(assembler), ...collected.lost, ...(network?.lost ?? [])]
  for (const file of collected.files) writer.emit({ type: 'file', file }, 'paced')
  for (const { what, reason } of lost) writer.emit({ type: 'lost', what, reason }, 'paced')
  if (network !== null) writer.emit({ type: 'network', ...network.counts }, 'paced')
  const tail = await writer.end(MAX_INLINE_TAIL_BYTES)
  signal.throwIfAborted()
  // Before the end is visible, so that the next execution does not name the loss again. If this step crashes here, the row still names it.
  if (row.lostBefore.length > 0 && workKindOf(row).usesVariables)
    await deps.table.containers.markStateLossReported(row.tenant, row.containerId, session.sandboxId)
  if (lostFiles.length > 0) await deps.table.containers.markFileLossReported(row.tenant, row.containerId, session.sandboxId)
  await endExecution(deps, row, {
    ...end,
    result: resultOf(deps, { row, container, assembler, envelope, files: collected.files, lost, network: network?.counts }),
    tail,
    sandboxTraceId: envelope.traceId ?? null,
  })
}
