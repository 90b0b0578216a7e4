import { POOL_SIZE, type Bench } from '../bench.ts'
import { residentMegabytes, sandboxPssMegabytes } from '../sides/memory.ts'
import { round, summarize, type Figure } from '../statistics.ts'

const isNumber = (value: number | null): value is number => value !== null

/** Memory of idle warm sandboxes and of the server. Left out on systems without /proc, and where only root may look. */
export const memory: Bench = {
  name: 'memory',
  title: 'memory of an idle warm sandbox (PSS) and of the local server (RSS)',
  async run({ server, say }) {
    const sandboxes = await server.pool.waitFor(POOL_SIZE)
    const pss = (await Promise.all(sandboxes.map(sandboxPssMegabytes))).filter(isNumber)
    const rss = [await residentMegabytes(server.pid)].filter(isNumber)
    const figures: Record<string, Figure> = {}
    const ratios: Record<string, number> = {}
    for (const [name, key, samples] of [
      ['sandbox_pss', 'sandbox_pss_mb', pss],
      ['server_rss', 'server_rss_mb', rss],
    ] as const) {
      if (samples.length === 0) {
        say(`  ${name}: /proc does not tell; run as root on Linux`)
        continue
      }
      figures[name] = summarize('MB', samples)
      ratios[key] = round(figures[name].median)
    }
    return { figures, ratios }
  },
}
