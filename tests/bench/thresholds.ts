/** The published thresholds: what each ratio must not exceed, or must reach. */
export const THRESHOLDS: Readonly<Record<string, { readonly atMost: number } | { readonly atLeast: number }>> = {
  live_vs_kernel: { atMost: 1.5 },
  live_vs_kernel_data: { atMost: 1.5 },
  live_vs_baseline: { atLeast: 250 },
  live_p99_over_p50: { atMost: 2.5 },
  fresh_vs_live: { atMost: 1.4 },
  cold_vs_floor: { atMost: 1.15 },
  throughput_vs_kernels: { atLeast: 0.6 },
  plot_vs_kernel: { atMost: 1.1 },
  file_vs_copy: { atMost: 1 },
  network_added_ms: { atMost: 5 },
  network_mb_s: { atLeast: 100 },
  wake_vs_unpickle: { atMost: 1.3 },
  suspend_p95_ms: { atMost: 200 },
  resume_p95_ms: { atMost: 400 },
  fork_p95_ms: { atMost: 2_000 },
  image_mb: { atMost: 160 },
  standard_image_mb: { atMost: 480 },
  standard_pss_mb: { atMost: 110 },
  standard_live_vs_slim: { atMost: 1.1 },
  standard_claim_vs_slim: { atMost: 1.1 },
  full_pss_mb: { atMost: 110 },
  full_live_vs_slim: { atMost: 1.1 },
  full_claim_vs_slim: { atMost: 1.1 },
  sandbox_pss_mb: { atMost: 110 },
  sandboxes_in_8_gb: { atLeast: 50 },
  server_rss_mb: { atMost: 150 },
  bundle_mb: { atMost: 1.5 },
  api_init_ms: { atMost: 150 },
  turn_vs_executions: { atMost: 2.2 },
  command_vs_spawn: { atMost: 3 },
  mcp_vs_native: { atMost: 1.3 },
  e2b_vs_native: { atMost: 1.3 },
  librechat_vs_native: { atMost: 1.3 },
  bash_vs_live: { atMost: 1.2 },
  js_vs_live: { atMost: 1.2 },
  ready_s: { atMost: 2.5 },
  fairness_p99: { atMost: 2 },
  cost_vs_peers: { atMost: 1 },
  cost_turns_x86_usd: { atMost: 0.6 },
  cost_turns_arm_spot_usd: { atMost: 0.35 },
  cost_idle_month_usd: { atMost: 28 },
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
