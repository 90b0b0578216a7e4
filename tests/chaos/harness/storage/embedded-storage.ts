import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { QUEUES, type QueueName } from '../../../../services/model/messages.ts'
import type { ObjectStore } from '../../../../services/ports/object-store.ts'
import type { Queue, QueueConsumer } from '../../../../services/ports/queue.ts'
import { createFileObjectStore } from '../../../../services/adapters/storage/files/file-object-store.ts'
import { openObjectFolder } from '../../../../services/adapters/storage/files/object-folder.ts'
import { MemoryQueue } from '../../../../services/adapters/storage/memory-queue/memory-queue.ts'
import type { Items } from '../../../../services/adapters/storage/rows/items.ts'
import { createTable } from '../../../../services/adapters/storage/rows/table.ts'
import { openSqlite, type SqliteStore } from '../../../../services/adapters/storage/sqlite/open-sqlite.ts'
import type { ChaosStorage, ChaosStorageOptions, DeadLetterMessage } from './chaos-storage.ts'
import { faultyItems, faultyObjects, faultyQueue } from './faulty-storage.ts'
import { recordItems } from './record-items.ts'

interface Opened {
  readonly rows: SqliteStore
  readonly objects: ObjectStore
  readonly queue: MemoryQueue
  /** Ends the deliveries of this queue. */
  readonly closing: AbortController
}

/** The embedded storage; a restart closes the database and loses the queue, as the end of the server's process does. */
export async function startEmbeddedChaosStorage({ history, faults, isDurable }: ChaosStorageOptions): Promise<ChaosStorage> {
  const root = await mkdtemp(join(tmpdir(), 'cellblock-chaos-'))
  const secret = randomBytes(32)
  const open = async (): Promise<Opened> => ({
    rows: await openSqlite(join(root, 'rows.sqlite'), { isDurable }),
    objects: createFileObjectStore({ folder: await openObjectFolder(join(root, 'objects'), { isDurable }), secret }),
    queue: new MemoryQueue(),
    closing: new AbortController(),
  })
  const gate = new Gate(await open())
  const items = recordItems(
    gate.facade((opened) => opened.rows.items),
    history,
  )
  const objects = gate.facade((opened) => opened.objects)
  const queue: Queue = gate.facade((opened) => opened.queue)
  const faultyStore = faultyObjects(objects, faults)

  return {
    reliable: { table: createTable(items, objects), objects, queue },
    faulty: { table: createTable(faultyItems(items, faults), faultyStore), objects: faultyStore, queue: faultyQueue(queue, faults) },
    consumer: consumerOf(gate),
    carriesText: false,
    address: null,

    async sendText(name, text) {
      await queue.send(name, JSON.parse(text) as never, { group: 'text' })
    },

    async deadLetters(name, count, timeoutMs) {
      const bodies: DeadLetterMessage[] = []
      const isDone = new AbortController()
      const receiving = gate.opened.queue.consumeDeadLetters(name, {
        signal: isDone.signal,
        onError: () => undefined,
        handler: async (body) => void bodies.push({ body, remove: async () => undefined }),
      })
      for (const until = Date.now() + timeoutMs; bodies.length < count && Date.now() < until;) await delay(50)
      isDone.abort()
      await receiving
      return bodies
    },

    async pendingMessages() {
      const counts = QUEUES.map((name: QueueName) => gate.opened.queue.counts(name))
      return counts.reduce((sum, { ready, delayed, inFlight }) => sum + ready + delayed + inFlight, 0)
    },

    async restart(downMs) {
      await gate.close()
      await delay(downMs)
      gate.reopen(await open())
    },

    async stop() {
      await gate.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Passes calls to the opened storage, and refuses them while it is down. */
class Gate {
  #opened: Opened
  #isDown = false
  readonly #running = new Set<Promise<unknown>>()

  constructor(opened: Opened) {
    this.#opened = opened
  }

  get opened(): Opened {
    return this.#opened
  }

  get isDown(): boolean {
    return this.#isDown
  }

  /** An object whose methods call those of the storage that is open then. */
  facade<Port extends Items | ObjectStore | Queue>(of: (opened: Opened) => Port): Port {
    return new Proxy({} as Port, {
      get:
        (_, name) =>
        (...args: readonly unknown[]): Promise<unknown> => {
          if (this.#isDown) return Promise.reject(new Error('The storage is down.'))
          const port = of(this.#opened)
          const call = (Reflect.get(port, name) as (...args: readonly unknown[]) => Promise<unknown>).apply(port, [...args])
          this.#running.add(call)
          const settle = (): void => void this.#running.delete(call)
          call.then(settle, settle)
          return call
        },
      // Spreading a port copies its methods.
      ownKeys: () => [...methodsOf(of(this.#opened))],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    })
  }

  /** Refuses new calls, waits for those that run, and closes the database. */
  async close(): Promise<void> {
    this.#isDown = true
    this.#opened.closing.abort()
    await Promise.allSettled(this.#running)
    await this.#opened.rows.close()
  }

  reopen(opened: Opened): void {
    this.#opened = opened
    this.#isDown = false
  }
}

const methodsOf = (port: object): readonly string[] =>
  [...Object.keys(port), ...Object.getOwnPropertyNames(Object.getPrototypeOf(port) as object)].filter(
    (name) => name !== 'constructor' && typeof Reflect.get(port, name) === 'function',
  )

const POLL_MS = 20

/** Delivers the messages of the queue that is open, and after a restart those of the next one. */
function consumerOf(gate: Gate): QueueConsumer {
  const repeat = async (signal: AbortSignal, consume: (opened: Opened, signal: AbortSignal) => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      const { opened } = gate
      if (gate.isDown || opened.closing.signal.aborted) await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
      else await consume(opened, AbortSignal.any([signal, opened.closing.signal]))
    }
  }
  return {
    consume: (name, options) => repeat(options.signal, ({ queue }, signal) => queue.consume(name, { ...options, signal })),
    consumeDeadLetters: (name, options) =>
      repeat(options.signal, ({ queue }, signal) => queue.consumeDeadLetters(name, { ...options, signal })),
  }
}
