/** One price of somebody else's sandboxes as it is published, US dollars. */
export interface PeerPrice {
  readonly usd: number
  readonly unit: string
  /** Where it was read, and on which day. */
  readonly source: string
  readonly readOn: string
}

const E2B = { source: 'https://e2b.dev/docs/faq/calculate-sandbox-price', readOn: '2026-11-21' } as const
const AGENTCORE = { source: 'https://aws.amazon.com/bedrock/agentcore/pricing/', readOn: '2026-11-21' } as const
const OPENAI = { source: 'https://developers.openai.com/api/docs/pricing', readOn: '2026-11-21' } as const

/** List prices without plans, credits and volume discounts. */
export const PEER_PRICES = {
  /** For what is allocated, while the sandbox runs. */
  e2bVcpuSecond: { usd: 0.000014, unit: 'vCPU-second', ...E2B },
  e2bGibSecond: { usd: 0.0000045, unit: 'GiB-second', ...E2B },
  /** For what is used: waiting costs no CPU, memory is billed at its peak for as long as the session lives. */
  agentcoreVcpuHour: { usd: 0.0895, unit: 'vCPU-hour', ...AGENTCORE },
  agentcoreGbHour: { usd: 0.00945, unit: 'GB-hour', ...AGENTCORE },
  /** 0.03 for twenty minutes of a 1 GB container; by the minute since 2 June 2026, five minutes at least. */
  openaiContainerMinute1g: { usd: 0.03 / 20, unit: 'container-minute, 1 GB', ...OPENAI },
} as const satisfies Record<string, PeerPrice>

export const OPENAI_LEAST_MINUTES = 5

/** What one session of a peer does. Times in seconds. */
export interface PeerSession {
  /** Its code runs for this long in all. */
  readonly runSeconds: number
  /** It is kept for this long, running included. */
  readonly heldSeconds: number
  /** Of the CPU time that the code burns, cores on average while it runs. */
  readonly cores: number
  /** Memory that it uses at its peak, GB. */
  readonly memoryGb: number
}

export const PEERS = ['e2b', 'agentcore', 'openai'] as const
export type Peer = (typeof PEERS)[number]

/**
 * What a session costs at each peer, each by its own rule and in the peer's favour: E2B with the smallest sandbox that has 1 GiB, AgentCore
 * with no more CPU and memory than is used, OpenAI with the container gone the moment it is not held any more.
 */
export const PEER_COST: Readonly<Record<Peer, (session: PeerSession) => number>> = {
  e2b: ({ heldSeconds, cores, memoryGb }) =>
    heldSeconds *
    (Math.max(1, Math.ceil(cores)) * PEER_PRICES.e2bVcpuSecond.usd + Math.max(1, Math.ceil(memoryGb)) * PEER_PRICES.e2bGibSecond.usd),
  agentcore: ({ runSeconds, heldSeconds, cores, memoryGb }) =>
    (runSeconds * cores * PEER_PRICES.agentcoreVcpuHour.usd + heldSeconds * memoryGb * PEER_PRICES.agentcoreGbHour.usd) / 3600,
  openai: ({ heldSeconds }) => Math.max(OPENAI_LEAST_MINUTES, Math.ceil(heldSeconds / 60)) * PEER_PRICES.openaiContainerMinute1g.usd,
}
