import type { QueueName } from '../core/messages.ts'
import type { Telemetry } from '../core/ports/telemetry.ts'

/** One JSON line an event on standard output, where Lambda's logs are collected. */
export const jsonLog: Telemetry = {
  emit: (event) => void process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), ...event })}\n`),
}

/** Notes a message of this queue that failed and will come again. */
export const logFailedMessage =
  (queue: QueueName) =>
  (error: unknown, messageId: string): void =>
    jsonLog.emit({
      event: 'message',
      outcome: 'error',
      queue,
      message: messageId,
      detail: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    })
