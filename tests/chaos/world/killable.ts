import type { SandboxDriver } from '../../../services/core/ports/sandbox-driver.ts'
import type { SandboxLink } from '../../../services/core/ports/sandbox-link.ts'
import type { TurnDeps } from '../../../services/chat/deps.ts'

/** Everything outside its own process that a worker can reach. */
export interface Ports extends Pick<TurnDeps, 'table' | 'queue' | 'objects'> {
  readonly driver: SandboxDriver
  readonly link: SandboxLink
}

/** Thrown by every port of a worker that is dead. */
export class Killed extends Error {
  constructor() {
    super('The worker was killed')
    this.name = 'Killed'
  }
}

/** Called around every call with its number (from 0) and its name. A throw is what the worker gets instead of an answer. */
export interface Watch {
  before?(number: number, verb: string): Promise<void> | void
  after?(number: number, verb: string, answer: unknown, args: readonly unknown[]): Promise<void> | void
}

/** The same ports, with somebody who looks on at every call. An answer that is a stream is watched piece by piece. */
export function watchPorts(ports: Ports, watch: Watch): Ports {
  let calls = 0
  async function* pieces(stream: AsyncIterable<unknown>, verb: string): AsyncGenerator {
    for await (const piece of stream) {
      await watch.before?.(calls++, `${verb} piece`)
      yield piece
    }
  }
  const around = async (verb: string, args: readonly unknown[], call: () => unknown): Promise<unknown> => {
    const number = calls++
    await watch.before?.(number, verb)
    const answer = await call()
    await watch.after?.(number, verb, answer, args)
    if (typeof answer !== 'object' || answer === null || !('body' in answer)) return answer
    return { ...answer, body: pieces(answer.body as AsyncIterable<unknown>, verb) }
  }
  const wrap = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown
        const name = `${path}${String(key)}`
        if (name === 'driver.list' || name === 'driver.image' || name === 'driver.name') return value
        if (typeof value === 'function')
          return (...args: unknown[]) => around(nameOf(name, args), args, () => Reflect.apply(value, object, args) as unknown)
        return typeof value === 'object' && value !== null ? wrap(value, `${name}.`) : value
      },
    })
  return {
    table: wrap(ports.table, ''),
    queue: wrap(ports.queue, 'queue.'),
    objects: wrap(ports.objects, 'objects.'),
    driver: wrap(ports.driver, 'driver.'),
    link: wrap(ports.link, 'link.'),
  }
}

/** Requests to a sandbox are told apart by what they ask for. */
function nameOf(name: string, args: readonly unknown[]): string {
  if (name !== 'link.request') return name
  const { method, target } = args[1] as { method: string; target: string }
  return `link ${method} /${target.split(/[/?]/)[1]}`
}

export interface Mortal {
  readonly ports: Ports
  /** The verb of each call so far. */
  readonly calls: readonly string[]
  readonly isDead: boolean
  /** Now, wherever it is. */
  kill(): void
  /** Resolves when it dies. */
  readonly death: Promise<void>
}

/** Ports of a worker that is killed at the call with this number, before it was made or after it with the answer lost. Every later call fails. */
export function mortal(ports: Ports, diesAt: number, when: 'before' | 'after', onDeath: (verb: string) => void): Mortal {
  const calls: string[] = []
  let isDead = false
  const { promise: death, resolve } = Promise.withResolvers<void>()
  const die = (verb: string): void => {
    isDead = true
    onDeath(`${when} ${verb}`)
    resolve()
  }
  const watched = watchPorts(ports, {
    before(number, verb) {
      if (isDead) throw new Killed()
      calls[number] = verb
      if (number === diesAt && when === 'before') die(verb)
      if (isDead) throw new Killed()
    },
    after(number, verb) {
      if (number === diesAt && !isDead) die(verb)
      if (isDead) throw new Killed()
    },
  })
  return {
    ports: watched,
    calls,
    death,
    kill: () => die('hand'),
    get isDead() {
      return isDead
    },
  }
}
