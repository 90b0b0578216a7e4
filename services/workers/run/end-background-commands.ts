import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { hasCommands, type Container } from '../../model/containers/container.ts'
import { hasEnded, type CommandSource, type Lost } from '../../model/executions/execution.ts'
import type { RunDeps } from '../deps.ts'
import { publishCompletion } from '../../operations/executions/end-execution.ts'

const MAX_SHOWN_CHARACTERS = 120

/** Requests the end of the background commands of a container that is about to hibernate, and names them for the next execution. False: none runs. */
export async function endBackgroundCommands(deps: RunDeps, container: Container): Promise<boolean> {
  const { tenant, id, backgroundCommands = [], lostCommands = [] } = container
  // A command in the foreground keeps the container awake, and with it those in the background.
  if (backgroundCommands.length === 0 || hasCommands(container) || container.queue.length > 0) return false
  const { table, clock } = deps
  const lost: Lost[] = [...lostCommands]
  for (const commandId of backgroundCommands) {
    const found = await table.executions.get(tenant, commandId)
    if (found === null) {
      await table.containers.removeCommand(tenant, id, commandId, clock.now())
      continue
    }
    if (hasEnded(found.status)) {
      await publishCompletion(deps, found)
      continue
    }
    const { source } = found
    if (source.kind === 'command' && !lost.some(({ what }) => what.includes(commandId))) lost.push(lossOf(commandId, source))
    await cancelExecution(deps, { tenant, id: commandId })
  }
  await table.containers.noteLostCommands(tenant, id, lost)
  return true
}

const lossOf = (commandId: string, { argv }: CommandSource): Lost => ({
  what: `command ${commandId}`,
  reason: `It ran in the background and ended when the container hibernated: ${argv.join(' ').slice(0, MAX_SHOWN_CHARACTERS).toWellFormed()}`,
})
