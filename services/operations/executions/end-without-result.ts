import { emptyResult } from '../../model/executions/empty-result.ts'
import type { CommandExit, Execution, ExecutionReason, ExecutionStatus, Lost } from '../../model/executions/execution.ts'
import { endExecution, type EndDeps } from './end-execution.ts'
import { fenceEventLog } from '../../jobs/fence-event-log.ts'

/** Ends an execution without an envelope; its log is fenced and closed with what is known. Throws LeaseLostError. */
async function endWithoutResult(
  deps: EndDeps,
  leased: Execution,
  end: { readonly status: ExecutionStatus; readonly reason: ExecutionReason; readonly lost: Lost; readonly exit?: CommandExit },
): Promise<Execution> {
  const { status, reason, lost, exit } = end
  const at = deps.clock.now()
  const owner = { kind: 'execution', tenant: leased.tenant, id: leased.id } as const
  const payload = { type: 'lost', ...lost } as const
  const fenced = await fenceEventLog({ events: deps.table.events, clock: deps.clock }, owner, {
    fence: leased.fence,
    payload,
    isWrittenOnce: true,
  })
  return endExecution(deps, leased, {
    status,
    reason,
    result: { ...emptyResult(leased, at, [lost]), ...(exit && { exit }) },
    tail: { events: [], bytes: 0, nextSeq: fenced.firstSeq + fenced.events.length },
  })
}

export const endCancelled = (deps: EndDeps, leased: Execution, why: string): Promise<Execution> =>
  endWithoutResult(deps, leased, { status: 'cancelled', reason: 'caller', lost: { what: 'outputs', reason: why } })

/** The sandbox was lost, or did not answer in time, while the code ran. */
export const endLost = (deps: EndDeps, leased: Execution, reason: 'sandbox_lost' | 'deadline'): Promise<Execution> =>
  endWithoutResult(deps, leased, {
    status: reason === 'deadline' ? 'timed_out' : 'failed',
    reason,
    lost: {
      what: 'outputs',
      reason: 'The sandbox was lost while the code ran. Only what it had printed until then is kept, as events.',
    },
  })

/** The sandbox sent data that no retry can read; the sandbox is kept. */
export const endInvalid = (deps: EndDeps, leased: Execution, detail: string): Promise<Execution> =>
  endWithoutResult(deps, leased, {
    status: 'failed',
    reason: 'kernel_died',
    lost: {
      what: 'outputs',
      reason: `The kernel sent output that does not follow the protocol, so the execution was ended: ${detail.slice(0, 300)}`,
    },
  })

/** The sandbox did not start a command, as a shell does not start a program whose arguments the system refuses. */
export const endRefused = (deps: EndDeps, leased: Execution, detail: string): Promise<Execution> =>
  endWithoutResult(deps, leased, {
    status: 'failed',
    reason: 'error',
    lost: { what: 'outputs', reason: `The command was not started, and everything else is as before: ${detail.slice(0, 300)}` },
    exit: { code: 126, signal: null },
  })

/** No sandbox could be started in time. `check`: the isolation check that the last one failed. */
export const endUnstarted = (deps: EndDeps, leased: Execution, check?: string): Promise<Execution> =>
  endWithoutResult(deps, leased, {
    status: 'failed',
    reason: 'sandbox_lost',
    lost: {
      what: 'outputs',
      reason:
        check === undefined
          ? 'No sandbox could be started, so the code did not run. Try again; the operator finds the cause in the logs.'
          : `No sandbox could be started, so the code did not run: the last one failed the isolation check ${check}. The operator has to correct the platform.`,
    },
  })

export const endDeadLetter = (deps: EndDeps, leased: Execution): Promise<Execution> =>
  endWithoutResult(deps, leased, {
    status: 'failed',
    reason: 'dead_letter',
    lost: {
      what: 'outputs',
      reason:
        'Processing failed after all retries, so there is no result. Run the code again; if it fails again, report the id of this execution.',
    },
  })

/** No step started it in time. */
export const endOverdue = (deps: EndDeps, leased: Execution): Promise<Execution> =>
  endWithoutResult(deps, leased, {
    status: 'timed_out',
    reason: 'deadline',
    lost: {
      what: 'outputs',
      reason: 'It waited too long for its turn, so the code did not run.',
    },
  })
