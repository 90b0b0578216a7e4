import { costAtPeers, costOfSandboxTime } from '../../../scripts/operate/cost/peer-cost.ts'
import { costOfTurns } from '../../../scripts/operate/cost/turn-cost.ts'
import { total, TYPICAL } from '../../../scripts/operate/cost/usage.ts'
import type { Bench } from '../bench.ts'
import { round, summarize } from '../statistics.ts'

/** Dollars calculated from published prices. Nothing is measured, so there is one run. */
export const cost: Bench = {
  name: 'cost',
  title:
    '1,000 turns of 2 s each: sandbox time alone, with a fixed hold of five minutes; `npm run cost` adds functions, requests and storage',
  async run() {
    const { ours, peers } = costOfSandboxTime(TYPICAL)
    const conversation = total(costOfTurns(TYPICAL).filter(({ name }) => ['start', 'run', 'idle hold'].includes(name)))
    const elsewhere = costAtPeers(TYPICAL)
    const usd = (value: number) => summarize('USD', [value])
    return {
      figures: {
        cost_ours: usd(ours),
        cost_e2b: usd(peers.e2b),
        cost_agentcore: usd(peers.agentcore),
        cost_openai: usd(peers.openai),
        cost_conversations_ours: usd(conversation),
        cost_conversations_e2b: usd(elsewhere.e2b),
        cost_conversations_agentcore: usd(elsewhere.agentcore),
        cost_conversations_openai: usd(elsewhere.openai),
      },
      ratios: { cost_vs_peers: round(ours / Math.min(...Object.values(peers))) },
    }
  },
}
