import type { Bar, Finding, Form } from './bar.ts'
import { startGround } from './ground.ts'

export interface Measured {
  readonly bar: Bar
  readonly findings: readonly Finding[]
}

/** Measures each bar in its turn on one server. A bar that throws has missed: the others are measured all the same. */
export async function runBars(image: string, bars: readonly Bar[], form: Form, onMeasured: (measured: Measured) => void): Promise<void> {
  const ground = await startGround(image, form)
  try {
    for (const bar of bars) {
      const findings = await bar
        .measure(ground, form)
        .catch((error: unknown): readonly Finding[] => [
          { what: 'measuring', value: error instanceof Error ? error.message : String(error), bar: 'no fault', holds: false },
        ])
      onMeasured({ bar, findings })
    }
  } finally {
    await ground.stop()
  }
}
