import { BARS } from './registry.ts'
import { runBars } from './run-bars.ts'

export interface LimitsSummary {
  readonly figures: number
  readonly held: number
  readonly missed: readonly string[]
}

/** The long form of every bar, or of the one with this number, told line by line as it comes. Throws when there is no such bar. */
export async function measureLimits(image: string, only: string | undefined, say: (line: string) => void): Promise<LimitsSummary> {
  const wanted = BARS.filter(({ id }) => only === undefined || id === only)
  if (wanted.length === 0) throw new Error(`--bar takes one of ${BARS.map(({ id }) => id).join(', ')}.`)
  let figures = 0
  const missed: string[] = []
  await runBars(image, wanted, 'long', ({ bar, findings }) => {
    say(`\n${bar.id} ${bar.title}`)
    for (const { what, value, bar: wish, holds } of findings) {
      say(`  ${holds ? '✓' : '✗'} ${what}: ${value} (${wish})`)
      if (!holds) missed.push(`${bar.id} ${what}: ${value}, wanted ${wish}`)
    }
    figures += findings.length
  })
  return { figures, held: figures - missed.length, missed }
}
