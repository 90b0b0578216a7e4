/** The published thresholds: what each ratio must not exceed, or must reach. */
export const THRESHOLDS: Readonly<Record<string, { readonly atMost: number } | { readonly atLeast: number }>> = {
  live_vs_kernel: { atMost: 3 },
  live_vs_baseline: { atLeast: 200 },
  live_p99_over_p50: { atMost: 3 },
  fresh_vs_live: { atMost: 1.5 },
  cold_vs_floor: { atMost: 1.35 },
  throughput_vs_kernels: { atLeast: 0.25 },
  plot_vs_kernel: { atMost: 1.3 },
  file_vs_copy: { atMost: 2 },
  wake_vs_unpickle: { atMost: 2 },
  image_mb: { atMost: 200 },
  sandbox_pss_mb: { atMost: 120 },
  sandboxes_in_8_gb: { atLeast: 50 },
  server_rss_mb: { atMost: 250 },
  bundle_mb: { atMost: 1.5 },
  api_init_ms: { atMost: 200 },
  turn_vs_executions: { atMost: 2 },
  cost_vs_peers: { atMost: 1 },
}

/** Null for a ratio that has no threshold. */
export function meetsThreshold(key: string, value: number): boolean | null {
  const threshold = THRESHOLDS[key]
  if (threshold === undefined) return null
  return 'atMost' in threshold ? value <= threshold.atMost : value >= threshold.atLeast
}

export function thresholdText(key: string): string {
  const threshold = THRESHOLDS[key]
  if (threshold === undefined) return ''
  return 'atMost' in threshold ? `≤ ${threshold.atMost}` : `≥ ${threshold.atLeast}`
}
