import { QUEUES } from '../../../model/messages.ts'
import { SANDBOX_STATES } from '../../../model/sandboxes/sandbox.ts'
import { readHostCapacity } from '../host-admission.ts'
import type { LocalStorage } from '../storage/local-storage.ts'
import type { PrometheusMetrics } from './prometheus.ts'

/** Adds gauges of the present state: sandboxes, queues, memory, and free resources of the machine. `folder`: a path on the disk to measure. */
export function addProbes(metrics: PrometheusMetrics, storage: Pick<LocalStorage, 'table' | 'queueSizes'>, folder: string): void {
  metrics.addProbe({
    name: 'sandboxes',
    help: 'Sandboxes by state.',
    label: 'state',
    read: async () => {
      const sandboxes = await storage.table.sandboxes.all()
      return Object.fromEntries(SANDBOX_STATES.map((state) => [state, sandboxes.filter((sandbox) => sandbox.state === state).length]))
    },
  })
  metrics.addProbe({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the server.',
    read: async () => ({ '': process.memoryUsage.rss() }),
  })
  metrics.addProbe({
    name: 'process_cpu_seconds',
    help: 'CPU time of the server since its start.',
    read: async () => {
      const { user, system } = process.cpuUsage()
      return { '': (user + system) / 1_000_000 }
    },
  })
  metrics.addProbe({
    name: 'host_available_bytes',
    help: 'Memory and disk that this machine has left.',
    label: 'of',
    read: async () => {
      const { memoryBytes, diskBytes } = await readHostCapacity(folder)
      return { ...(memoryBytes !== null && { memory: memoryBytes }), ...(diskBytes !== null && { disk: diskBytes }) }
    },
  })
  const { queueSizes } = storage
  if (queueSizes === null) return
  for (const [name, kind, help] of [
    ['queue_messages', 'waiting', 'Messages that wait or are being processed.'],
    ['dead_letters', 'dead', 'Messages in the dead-letter queue.'],
  ] as const)
    metrics.addProbe({
      name,
      help,
      label: 'queue',
      read: async () => {
        const sizes = queueSizes()
        return Object.fromEntries(QUEUES.map((queue) => [queue, sizes[queue][kind]]))
      },
    })
}
