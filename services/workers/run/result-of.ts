import { constants } from 'node:os'
import type { Container } from '../../model/containers/container.ts'
import type { CommandExit, Execution, ExecutionResult, Lost } from '../../model/executions/execution.ts'
import type { OutputAssembler } from '../../model/executions/output-assembler.ts'
import type { SupervisorEnvelope } from '../../ports/supervisor.ts'
import type { RunDeps } from '../deps.ts'

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

const exitOf = ({ exit }: SupervisorEnvelope): CommandExit => ({
  code: exit?.code ?? null,
  signal: exit?.signal === undefined || exit.signal === null ? null : (SIGNAL_NAMES.get(exit.signal) ?? `signal ${exit.signal}`),
})

/** The result of an execution: outputs of the kernel and measurements of the supervisor. */
export function resultOf(
  deps: Pick<RunDeps, 'clock' | 'costPerSecond'>,
  row: Execution,
  container: Container,
  assembler: OutputAssembler,
  envelope: SupervisorEnvelope,
  files: ExecutionResult['files'],
  lost: readonly Lost[],
): ExecutionResult {
  const startedAt = row.startedAt ?? row.createdAt
  const sandboxSeconds = envelope.runMs / 1000
  const isCommand = row.source.kind === 'command'
  return {
    // The result of a command is the text of its streams.
    cells: isCommand ? [] : assembler.cells(),
    ...(isCommand && { exit: exitOf(envelope) }),
    stdout: assembler.stdout,
    stderr: assembler.stderr,
    error: assembler.error,
    files,
    ...(envelope.files.length + envelope.deleted.length === 0 ? { keptFiles: true } : {}),
    lost,
    usage: {
      queueMs: Math.max(0, startedAt - row.createdAt),
      startMs: Math.max(0, Math.round(deps.clock.now() - startedAt - envelope.runMs)),
      runMs: envelope.runMs,
      cpuMs: envelope.cpuMs,
      peakMemoryBytes: envelope.peakMemoryBytes,
      outputBytes: envelope.outputBytes,
      sandboxSeconds,
      costUsd: sandboxSeconds * deps.costPerSecond(container.memoryTier),
    },
  }
}
