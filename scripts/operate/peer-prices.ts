/** One published price of another provider's sandboxes, US dollars. */
export interface PeerPrice {
  readonly usd: number
  readonly unit: string
  /** The page that publishes the price, and the day on which it was read. */
  readonly source: string
  readonly readOn: string
}

const E2B = { source: 'https://e2b.dev/docs/faq/calculate-sandbox-price', readOn: '2026-11-21' } as const
const AGENTCORE = { source: 'https://aws.amazon.com/bedrock/agentcore/pricing/', readOn: '2026-11-21' } as const
const OPENAI = { source: 'https://developers.openai.com/api/docs/pricing', readOn: '2026-11-21' } as const

/** List prices without plans, credits and volume discounts. */
export const PEER_PRICES = {
  /** Billed for allocated resources while the sandbox runs. */
  e2bVcpuSecond: { usd: 0.000014, unit: 'vCPU-second', ...E2B },
  e2bGibSecond: { usd: 0.0000045, unit: 'GiB-second', ...E2B },
  /** Billed for used resources: idle time costs no CPU; peak memory is billed for the whole session. */
  agentcoreVcpuHour: { usd: 0.0895, unit: 'vCPU-hour', ...AGENTCORE },
  agentcoreGbHour: { usd: 0.00945, unit: 'GB-hour', ...AGENTCORE },
  /** 0.03 for twenty minutes of a 1 GB container; by the minute since 2 June 2026, at least five minutes. */
  openaiContainerMinute1g: { usd: 0.03 / 20, unit: 'container-minute, 1 GB', ...OPENAI },
} as const satisfies Record<string, PeerPrice>

export const OPENAI_MIN_MINUTES = 5

/** One session at another provider. Times in seconds. */
export interface PeerSession {
  /** Total run time of its code. */
  readonly runSeconds: number
  /** How long it exists, running time included. */
  readonly heldSeconds: number
  /** Average CPU cores used while code runs. */
  readonly cores: number
  /** Peak memory, GB. */
  readonly memoryGb: number
}

export const PEERS = ['e2b', 'agentcore', 'openai'] as const
export type Peer = (typeof PEERS)[number]

/**
 * The cost of a session at each provider by its own rules, with assumptions in its favour: E2B with the smallest sandbox of 1 GiB, AgentCore with
 * only the CPU and memory used, OpenAI with the container deleted as soon as it is not held.
 */
export const PEER_COST: Readonly<Record<Peer, (session: PeerSession) => number>> = {
  e2b: ({ heldSeconds, cores, memoryGb }) =>
    heldSeconds *
    (Math.max(1, Math.ceil(cores)) * PEER_PRICES.e2bVcpuSecond.usd + Math.max(1, Math.ceil(memoryGb)) * PEER_PRICES.e2bGibSecond.usd),
  agentcore: ({ runSeconds, heldSeconds, cores, memoryGb }) =>
    (runSeconds * cores * PEER_PRICES.agentcoreVcpuHour.usd + heldSeconds * memoryGb * PEER_PRICES.agentcoreGbHour.usd) / 3600,
  openai: ({ heldSeconds }) => Math.max(OPENAI_MIN_MINUTES, Math.ceil(heldSeconds / 60)) * PEER_PRICES.openaiContainerMinute1g.usd,
}
