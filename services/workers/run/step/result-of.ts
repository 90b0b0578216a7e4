import type { Container } from '../../../model/containers/container.ts'
import type { Execution, ExecutionNetwork, ExecutionResult, Lost } from '../../../model/executions/execution.ts'
import type { OutputAssembler } from '../../../model/executions/output-assembler.ts'
import type { SupervisorEnvelope } from '../../../ports/supervisor.ts'
import type { RunDeps } from '../../deps.ts'
import { outputsOf } from '../stream/sandbox-work.ts'

/** The result of an execution: outputs of the kernel and measurements of the supervisor. */
export function resultOf(
  deps: Pick<RunDeps, 'clock' | 'costPerSecond'>,
  run: {
    readonly row: Execution
    readonly container: Container
    readonly assembler: OutputAssembler
    readonly envelope: SupervisorEnvelope
    readonly files: ExecutionResult['files']
    readonly lost: readonly Lost[]
    readonly network?: ExecutionNetwork | undefined
  },
): ExecutionResult {
  const { row, container, assembler, envelope, files, lost, network } = run
  const startedAt = row.startedAt ?? row.createdAt
  const sandboxSeconds = envelope.runMs / 1000
  return {
    ...outputsOf(row, assembler, envelope),
    stdout: assembler.stdout,
    stderr: assembler.stderr,
    error: assembler.error,
    files,
    ...(envelope.files.length + envelope.deleted.length === 0 ? { keptFiles: true } : {}),
    lost,
    ...(network && { network }),
    usage: {
      queueMs: Math.max(0, startedAt - row.createdAt),
      startMs: Math.max(0, Math.round(deps.clock.now() - startedAt - envelope.runMs)),
      runMs: envelope.runMs,
      cpuMs: envelope.cpuMs,
      sandboxCpuMs: envelope.sandboxCpuMs,
      peakMemoryBytes: envelope.peakMemoryBytes,
      outputBytes: envelope.outputBytes,
      sandboxSeconds,
      costUsd: sandboxSeconds * deps.costPerSecond(container.memoryTier),
    },
  }
}
