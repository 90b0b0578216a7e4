import type { Threshold, Finding } from './threshold.ts'
import type { Form } from './harness.ts'
import { startLimitHarness } from './harness.ts'

export interface Measured {
  readonly threshold: Threshold
  readonly findings: readonly Finding[]
}

/** Measures the thresholds one after another on one server. If one throws, it counts as missed, and the others are still measured. */
export async function runThresholds(
  image: string,
  thresholds: readonly Threshold[],
  form: Form,
  onMeasured: (measured: Measured) => void,
): Promise<void> {
  const harness = await startLimitHarness(image, form)
  try {
    for (const threshold of thresholds) {
      const findings = await threshold
        .measure(harness, form)
        .catch((error: unknown): readonly Finding[] => [
          { what: 'measuring', value: error instanceof Error ? error.message : String(error), threshold: 'no error', holds: false },
        ])
      onMeasured({ threshold, findings })
    }
  } finally {
    await harness.stop()
  }
}
