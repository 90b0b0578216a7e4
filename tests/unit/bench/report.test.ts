import { expect, test } from 'vitest'
import { THRESHOLDS } from '../../bench/thresholds.ts'
import { htmlReport } from '../../../scripts/report/html-report.ts'
import { benchHtml } from '../../bench/html.ts'
import { reportText } from '../../bench/report.ts'
import { summarize } from '../../bench/statistics.ts'

const machine = {
  startedAt: '2026-01-01T00:00:00.000Z',
  cpu: 'A processor',
  cores: 2,
  memoryGiB: 24,
  freeMemoryGiB: 20,
  system: 'Linux 6',
  loadBefore: [0.1, 0.2, 0.3],
  loadAfter: [1, 1, 1],
}

test('the report says which thresholds are met, which are missed and what has none', () => {
  const ratios = { live_vs_kernel: 2.5, live_vs_baseline: 320, something_new: 1 }
  const text = reportText({
    machine,
    versions: { node: '24.0.0' },
    runs: { live_ms: 3 },
    figures: { live_ms: summarize('ms', [1, 2, 3]) },
    ratios,
  })
  expect(text).toContain('| live_ms | ms | 1 | 2 | 3 | 3 | 3 |')
  expect(text).toContain('| live_vs_kernel | 2.5 | ≤ 1.5 | missed |')
  expect(text).toContain('| live_vs_baseline | 320 | ≥ 250 | met |')
  expect(text).toContain('| something_new | 1 |  |  |')
})

test('the report with charts shows every ratio and figure, escapes text and loads nothing', () => {
  const report = benchHtml({
    machine: { ...machine, cpu: '<script>alert(1)</script>' },
    versions: { node: '24.0.0' },
    runs: { live_ms: 3 },
    figures: { live_ms: summarize('ms', [1, 2, 3]), nothing: summarize('USD', [0]) },
    ratios: { live_vs_kernel: 2.5, live_vs_baseline: 320, something_new: 1 },
  })
  expect(report.sections[0]?.chart?.bars).toEqual([
    { label: 'live_vs_kernel', value: 1.67, note: '2.5 (≤ 1.5)', limit: 1, verdict: 'bad' },
    { label: 'live_vs_baseline', value: 1.28, note: '320 (≥ 250)', limit: 1, verdict: 'good' },
  ])
  const html = htmlReport(report)
  for (const part of [
    'aria-label="Figures in ms, ms, logarithmic scale"',
    '<td class="text">something_new</td>',
    '2 (p99 3)',
    '<td class="text">nothing</td>',
  ])
    expect(html).toContain(part)
  expect(html).not.toMatch(/<script|src=|href=|NaN|Infinity/)
})

test('every bar is a limit from one side', () => {
  for (const threshold of Object.values(THRESHOLDS)) expect(Object.keys(threshold)).toHaveLength(1)
})
