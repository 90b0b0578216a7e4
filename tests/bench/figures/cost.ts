import { readConfig, type Config } from '../../../infra/config.ts'
import { readCdkConfig } from '../../../scripts/operate/cdk-config.ts'
import { costReport, usageFrom } from '../../../scripts/operate/cost.ts'
import { costAtPeers, costOfSandboxTime } from '../../../scripts/operate/cost/peer-cost.ts'
import { costOfTurns } from '../../../scripts/operate/cost/turn-cost.ts'
import { total, TYPICAL } from '../../../scripts/operate/cost/usage.ts'
import type { Bench } from '../bench.ts'
import { round, summarize } from '../statistics.ts'

/** With 0.25 vCPU for `1g`, and a hold of at most a minute. */
const SMALL = { vcpu: '0.25' }
const SHORT_HOLD = { hibernateAfterSeconds: 60 }
const ARM_SPOT = { architecture: 'ARM64', spot: '100' }

/** Dollars calculated from published prices. Nothing is measured, so there is one run. */
export const cost: Bench = {
  name: 'cost',
  title: '1,000 turns of 2 s each: sandbox time alone, with a fixed hold of five minutes, and all of AWS; an idle month',
  async run() {
    const config = readConfig(await readCdkConfig())
    const report = (flags: Parameters<typeof usageFrom>[0], sandboxes: Partial<Config['sandboxes']> = {}) => {
      const settings = { ...config, sandboxes: { ...config.sandboxes, ...sandboxes } }
      return costReport(usageFrom(flags, settings), settings)
    }
    const { ours, peers } = costOfSandboxTime(TYPICAL)
    const conversation = total(costOfTurns(TYPICAL).filter(({ name }) => ['start', 'run', 'idle hold'].includes(name)))
    const elsewhere = costAtPeers(TYPICAL)
    const usd = (value: number) => summarize('USD', [value])
    return {
      figures: {
        cost_turns_default: usd(report({}).turns.total),
        cost_ours: usd(ours),
        cost_e2b: usd(peers.e2b),
        cost_agentcore: usd(peers.agentcore),
        cost_openai: usd(peers.openai),
        cost_conversations_ours: usd(conversation),
        cost_conversations_e2b: usd(elsewhere.e2b),
        cost_conversations_agentcore: usd(elsewhere.agentcore),
        cost_conversations_openai: usd(elsewhere.openai),
      },
      ratios: {
        cost_vs_peers: round(ours / Math.min(...Object.values(peers))),
        cost_turns_x86_usd: round(report(SMALL, SHORT_HOLD).turns.total),
        cost_turns_arm_spot_usd: round(report({ ...SMALL, ...ARM_SPOT }).turns.total),
        cost_idle_month_usd: round(report({}).month.total),
      },
    }
  },
}
