import type { SandboxDriver } from '../../../services/ports/sandbox-driver.ts'
import type { SandboxLink } from '../../../services/ports/sandbox-link.ts'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'

/** Every external dependency of a worker. */
export interface Ports extends Pick<TurnDeps, 'table' | 'queue' | 'objects'> {
  readonly driver: SandboxDriver
  readonly link: SandboxLink
}

/** Thrown by every port of a killed worker. */
export class WorkerKilledError extends Error {
  constructor() {
    super('The worker was killed')
    this.name = 'WorkerKilledError'
  }
}

/** Called around every port call with its number (from 0) and its name. If a hook throws, the worker gets that error. */
export interface CallHooks {
  before?(number: number, verb: string): Promise<void> | void
  after?(number: number, verb: string, answer: unknown, args: readonly unknown[]): Promise<void> | void
}

/** Wraps every port call in hooks. For a streamed reply, `before` runs for each chunk too. */
export function hookPorts(ports: Ports, watch: CallHooks): Ports {
  let calls = 0
  async function* chunks(stream: AsyncIterable<unknown>, verb: string): AsyncGenerator {
    for await (const chunk of stream) {
      await watch.before?.(calls++, `${verb} chunk`)
      yield chunk
    }
  }
  const around = async (verb: string, args: readonly unknown[], call: () => unknown): Promise<unknown> => {
    const number = calls++
    await watch.before?.(number, verb)
    const answer = await call()
    await watch.after?.(number, verb, answer, args)
    if (typeof answer !== 'object' || answer === null || !('body' in answer)) return answer
    return { ...answer, body: chunks(answer.body as AsyncIterable<unknown>, verb) }
  }
  const wrap = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown
        const name = `${path}${String(key)}`
        if (name === 'metered') return (meter: never) => wrap(Reflect.apply(value as (meter: never) => T, object, [meter]), path)
        if (name === 'driver.list' || name === 'driver.images' || name === 'driver.name') return value
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

/** The name of a call; a request to a sandbox is named by its method and path. */
function nameOf(name: string, args: readonly unknown[]): string {
  if (name !== 'link.request') return name
  const { method, target } = args[1] as { method: string; target: string }
  return `link ${method} /${target.split(/[/?]/)[1]}`
}

export interface KillablePorts {
  readonly ports: Ports
  /** The name of each call so far. */
  readonly calls: readonly string[]
  readonly isKilled: boolean
  /** Kills the worker at once, whatever it is doing. */
  kill(): void
  /** Resolves when the worker is killed. */
  readonly killed: Promise<void>
}

/** Kills the worker at this call: before the call, or after it with the reply lost. Every later call fails. */
export function killablePorts(ports: Ports, killAt: number, when: 'before' | 'after', onKill: (verb: string) => void): KillablePorts {
  const calls: string[] = []
  let isKilled = false
  const { promise: killed, resolve } = Promise.withResolvers<void>()
  const killNow = (verb: string): void => {
    isKilled = true
    onKill(`${when} ${verb}`)
    resolve()
  }
  const watched = hookPorts(ports, {
    before(number, verb) {
      if (isKilled) throw new WorkerKilledError()
      calls[number] = verb
      if (number === killAt && when === 'before') killNow(verb)
      if (isKilled) throw new WorkerKilledError()
    },
    after(number, verb) {
      if (number === killAt && !isKilled) killNow(verb)
      if (isKilled) throw new WorkerKilledError()
    },
  })
  return {
    ports: watched,
    calls,
    killed,
    kill: () => killNow('manual'),
    get isKilled() {
      return isKilled
    },
  }
}
