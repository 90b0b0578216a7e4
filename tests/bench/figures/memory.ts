import { POOL_SIZE, type Bench, type BenchContext } from '../bench.ts'
import { PRINT } from '../sides/print.ts'
import { idleSandboxMegabytes, SIDE_BY_SIDE } from '../sides/idle-sandboxes.ts'
import { residentMegabytes, sandboxPssMegabytes } from '../sides/memory.ts'
import { startServer } from '../sides/server.ts'
import { round, summarize, type Figure } from '../statistics.ts'

const isNumber = (value: number | null): value is number => value !== null

const MEGABYTES_OF_8_GB = 8_000

async function pssOfIdle({ isQuick, image, server }: BenchContext): Promise<readonly number[]> {
  if (!isQuick) return idleSandboxMegabytes(image, SIDE_BY_SIDE)
  return (await Promise.all((await server.pool.waitFor(POOL_SIZE)).map(sandboxPssMegabytes))).filter(isNumber)
}

/** Enough that the server's heap has reached its size: garbage is collected several times meanwhile. */
const EXECUTIONS = 1_000

/** Of one server the memory depends on how much garbage it happens to have: 14 MB between the least and the most of eight servers. */
const SERVERS = 7

interface ServerMemory {
  readonly idle: number | null
  readonly used: number | null
}

/**
 * Resident memory of new servers, one after another. They are separate, so that the figure does not depend on the benchmarks that ran before, and start as
 * every server but a clone's first one does: from the compile cache, which a server writes when it ends. Without it Node's compiler for TypeScript stays in
 * memory (20 MB).
 */
async function rssOfServers(context: BenchContext): Promise<readonly ServerMemory[]> {
  await (await startServer({ image: context.image, poolSize: 0 })).stop()
  const servers: ServerMemory[] = []
  for (let run = 0; run < (context.isQuick ? 1 : SERVERS); run++) servers.push(await rssOfServer(context))
  return servers
}

/** Before the first execution, and after `EXECUTIONS` of `print(1)`, one after another in one container. */
async function rssOfServer({ image }: BenchContext): Promise<ServerMemory> {
  const server = await startServer({ image, poolSize: POOL_SIZE })
  try {
    await server.pool.waitFor(POOL_SIZE)
    const idle = await residentMegabytes(server.pid)
    const container = await server.api.createContainer()
    for (let run = 0; run < EXECUTIONS; run++) await server.api.run(container, PRINT)
    return { idle, used: await residentMegabytes(server.pid) }
  } finally {
    await server.stop()
  }
}

/** The memory of idle warm sandboxes and of the server. Omitted without /proc or without the rights to read it. */
export const memory: Bench = {
  name: 'memory',
  title: `memory of an idle warm sandbox (PSS) and of the local server after ${EXECUTIONS} executions (RSS)`,
  async run(context) {
    const { say } = context
    const pss = await pssOfIdle(context)
    const servers = await rssOfServers(context)
    const figures: Record<string, Figure> = {}
    const ratios: Record<string, number> = {}
    for (const [name, key, samples] of [
      ['sandbox_pss', 'sandbox_pss_mb', pss],
      ['server_rss', 'server_rss_mb', servers.map(({ used }) => used).filter(isNumber)],
      ['server_rss_idle', 'server_rss_idle_mb', servers.map(({ idle }) => idle).filter(isNumber)],
    ] as const) {
      if (samples.length === 0) {
        say(`  ${name}: /proc does not tell; run as root on Linux`)
        continue
      }
      figures[name] = summarize('MB', samples)
      ratios[key] = round(figures[name].median)
    }
    if (pss.length > 0)
      ratios['sandboxes_in_8_gb'] = Math.floor(MEGABYTES_OF_8_GB / (pss.reduce((sum, each) => sum + each, 0) / pss.length))
    return { figures, ratios }
  },
}
