import { ensureSandboxImage } from '../../../scripts/setup/sandbox-image.ts'
import { PRINT } from '../sides/print.ts'
import type { Bench } from '../bench.ts'
import { startServer } from '../sides/server.ts'
import { timed } from '../sides/time.ts'
import { round, summarize } from '../statistics.ts'

const WARM_UP = 10
const PROGRAMS = { python: PRINT, bash: 'echo 1', javascript: 'console.log(1)' } as const
type Language = keyof typeof PROGRAMS

/** The smallest program of each language in one live container of `standard`, the first image with Node.js. */
export const languages: Bench = {
  name: 'languages',
  title: 'echo 1 and console.log(1) on a live container, beside print(1)',
  async run({ isQuick, say }) {
    const image = await ensureSandboxImage(say, { variant: 'standard' })
    const server = await startServer({ image, poolSize: 1 })
    const times: Record<Language, number[]> = { python: [], bash: [], javascript: [] }
    try {
      const container = await server.api.createContainer()
      for (let run = -WARM_UP; run < (isQuick ? 100 : 500); run++)
        for (const [language, code] of Object.entries(PROGRAMS)) {
          const ms = await timed(() => server.api.run(container, code, language))
          if (run >= 0) times[language as Language].push(ms)
        }
    } finally {
      await server.stop()
    }
    const figures = {
      python_ms: summarize('ms', times.python),
      bash_ms: summarize('ms', times.bash),
      javascript_ms: summarize('ms', times.javascript),
    }
    const ratios = {
      bash_vs_live: round(figures.bash_ms.median / figures.python_ms.median),
      js_vs_live: round(figures.javascript_ms.median / figures.python_ms.median),
    }
    return { figures, ratios }
  },
}
