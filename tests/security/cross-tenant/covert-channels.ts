import { createTenant } from '../../support/create-tenant.ts'
import type { LocalServerProcess } from '../../support/local-server.ts'
import type { NativeClient } from '../../support/native-client.ts'
import { CHANNELS, EXHAUST, USE, type Channel } from './channels.ts'

export interface ChannelFigure {
  readonly channel: string
  readonly kind: Channel['kind']
  /** Between two tenants' sandboxes. */
  readonly bitsPerSecond: number
  /** Between two processes of one sandbox, which shows that the channel's code works; null if not measured. */
  readonly insideBitsPerSecond: number | null
}

export interface NeighbourResult {
  readonly figures: readonly ChannelFigure[]
  readonly failures: readonly string[]
}

export interface NeighbourOptions {
  readonly kinds: readonly Channel['kind'][]
  /** Bits per channel: the first half teaches the receiver its threshold, the second half counts. */
  readonly bits: number
  /** Whether each channel is measured inside one sandbox too. */
  readonly isControlled: boolean
}

/** Everything, in about five minutes. */
export const ALL_CHANNELS: NeighbourOptions = { kinds: ['closed', 'open'], bits: 128, isControlled: true }
/** The channels through which no bit may pass, in about one minute. */
export const CLOSED_CHANNELS: NeighbourOptions = { kinds: ['closed'], bits: 64, isControlled: false }

/** Above this rate of wrong bits a channel carries nothing: guessed bits stay below it with a probability under 0.1 %. */
const maxErrorRate = (bits: number): number => (bits >= 128 ? 0.3 : 0.2)
/** Both programs have started by then. */
const LEAD_MS = 2_000
const SEED = 0x5eed
const BUSY_FACTOR = 5

/** Equal on both sides: the receiver's answers are compared with it. */
const sentBits = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => ((Math.imul(index + SEED, 2_654_435_761) >>> 13) ^ index) & 1)

const PRELUDE = `
import ctypes, fcntl, json, os, resource, signal, socket, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def at(slot, part):
    left = START + (slot + part) * SLOT - time.time()
    if left > 0: time.sleep(left)
`
const SEND = `
for slot, bit in enumerate(BITS):
    at(slot, 0)
    (up if bit else down)()
down()`
const RECEIVE = `
seen = []
for slot in range(len(BITS)): at(slot, 0.8); seen.append(read())
print(json.dumps(seen))`

function program({ code, slotMs }: Channel, bits: readonly number[], startsAt: number, role: 'send' | 'receive' | 'both'): string {
  const constants = `START, SLOT, BITS, SELF = ${startsAt / 1_000}, ${slotMs / 1_000}, ${JSON.stringify(bits)}, ${role === 'both' ? 'True' : 'False'}`
  const both = `if (child := os.fork()) == 0:${SEND.replaceAll('\n', '\n    ')}\n    os._exit(0)\n${RECEIVE}\nos.waitpid(child, 0)`
  return `${constants}${PRELUDE}${code}\n${role === 'both' ? both : role === 'send' ? SEND : RECEIVE}`
}

/** The capacity of a binary symmetric channel whose threshold is learnt from the first half of the bits and tested on the second. */
export function capacity(sent: readonly number[], seen: readonly number[], slotMs: number): number {
  const half = sent.length / 2
  const learnt = seen.slice(0, half)
  const errorsOf = (from: number, to: number, threshold: number, isInverted: boolean): number =>
    seen.slice(from, to).filter((value, index) => (value > threshold !== isInverted ? 1 : 0) !== sent[from + index]).length
  const rules = learnt.flatMap((threshold) => [false, true].map((isInverted) => ({ threshold, isInverted })))
  const best = rules.toSorted((a, b) => errorsOf(0, half, a.threshold, a.isInverted) - errorsOf(0, half, b.threshold, b.isInverted))[0]
  if (best === undefined) return 0
  const rate = errorsOf(half, sent.length, best.threshold, best.isInverted) / half
  if (rate > maxErrorRate(sent.length)) return 0
  const entropy = rate === 0 ? 0 : -rate * Math.log2(rate) - (1 - rate) * Math.log2(1 - rate)
  return Math.round(((1 - entropy) * 10_000) / slotMs) / 10
}

interface Neighbour {
  readonly client: NativeClient
  readonly container: string
}

async function seenBy({ client, container }: Neighbour, code: string): Promise<readonly number[]> {
  const { stdout, error } = await client.run(container, { code, timeout_seconds: 120 })
  if (error !== null) throw new Error(`${error.name}: ${error.value}`)
  return stdout === '' ? [] : (JSON.parse(stdout) as readonly number[])
}

/** Where the processors are busy, a channel may need longer slots to carry anything at all. */
async function measure(channel: Channel, options: NeighbourOptions, sender: Neighbour, receiver: Neighbour): Promise<ChannelFigure> {
  const figure = await measureOnce(channel, options, sender, receiver)
  return figure.insideBitsPerSecond === 0
    ? measureOnce({ ...channel, slotMs: channel.slotMs * BUSY_FACTOR }, options, sender, receiver)
    : figure
}

async function measureOnce(
  channel: Channel,
  { bits, isControlled }: NeighbourOptions,
  sender: Neighbour,
  receiver: Neighbour,
): Promise<ChannelFigure> {
  const sent = sentBits(bits)
  const inside = isControlled ? await seenBy(receiver, program(channel, sent, Date.now() + LEAD_MS, 'both')) : null
  const startsAt = Date.now() + LEAD_MS
  const [seen] = await Promise.all([
    seenBy(receiver, program(channel, sent, startsAt, 'receive')),
    seenBy(sender, program(channel, sent, startsAt, 'send')),
  ])
  return {
    channel: channel.name,
    kind: channel.kind,
    bitsPerSecond: capacity(sent, seen, channel.slotMs),
    insideBitsPerSecond: inside === null ? null : capacity(sent, inside, channel.slotMs),
  }
}

/**
 * Two tenants' sandboxes on one host: the bits per second that each channel carries from one to the other, and whether one that takes all it can
 * of what the kernel counts keeps the other, or a new sandbox, from working.
 */
export async function measureNeighbours(
  server: LocalServerProcess,
  options: NeighbourOptions,
  onFigure: (figure: ChannelFigure) => void = () => undefined,
): Promise<NeighbourResult> {
  const failures: string[] = []
  const figures: ChannelFigure[] = []
  const newNeighbour = async (name: string): Promise<Neighbour> => {
    const client = server.as(await createTenant(server, name))
    return { client, container: await client.createContainer() }
  }
  const [sender, receiver] = [await newNeighbour('sender'), await newNeighbour('receiver')]
  for (const channel of CHANNELS.filter(({ kind }) => options.kinds.includes(kind))) {
    const figure = await measure(channel, options, sender, receiver).catch((error: unknown) => {
      failures.push(`${channel.name} was not measured: ${error instanceof Error ? error.message : String(error)}`)
    })
    if (figure === undefined) continue
    figures.push(figure)
    onFigure(figure)
    if (channel.kind === 'closed' && figure.bitsPerSecond > 0)
      failures.push(`${channel.name} carries ${figure.bitsPerSecond} bits per second`)
    // An open channel has no claim: where the kernel updates a counter too seldom, it carries nothing.
    if (channel.kind === 'closed' && figure.insideBitsPerSecond === 0)
      failures.push(`${channel.name} carries nothing inside one sandbox, so its figure proves nothing`)
  }
  const taken = await sender.client.run(sender.container, { code: EXHAUST, timeout_seconds: 120 })
  if (!taken.stdout.startsWith('exhausted')) failures.push(`the exhaustion failed: ${taken.status} ${taken.error?.value ?? ''}`)
  for (const neighbour of [receiver, await newNeighbour('third')]) {
    const used = await neighbour.client.run(neighbour.container, USE)
    if (used.stdout !== '[]\n') failures.push(`beside an exhausting neighbour: ${used.status} ${used.reason} ${used.stdout}`)
  }
  return { figures, failures }
}
