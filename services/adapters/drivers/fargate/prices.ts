/** One price as AWS publishes it, US dollars. */
export interface Price {
  readonly usd: number
  /** The unit that `usd` pays for. */
  readonly unit: string
  /** The page that publishes the price. */
  readonly source: string
}

export const awsPrice = (usd: number, unit: string, page: string): Price => ({
  usd,
  unit,
  source: `https://aws.amazon.com/${page}/pricing/`,
})

/** The day on which the prices were read, and their Region. Every estimate shows both. */
export const PRICES_AS_OF = '2026-11-21'
export const PRICES_REGION = 'us-east-1'

/** On-demand list prices without free tiers. Results estimate the cost of a sandbox from them. */
export const FARGATE_PRICES = {
  /** Disk beyond the 20 GB included in a task. */
  fargateDiskGbHour: awsPrice(0.000111, 'GB-hour', 'fargate'),
  fargateX86VcpuHour: awsPrice(0.04048, 'vCPU-hour', 'fargate'),
  fargateX86GbHour: awsPrice(0.004445, 'GB-hour', 'fargate'),
  fargateArmVcpuHour: awsPrice(0.03238, 'vCPU-hour', 'fargate'),
  fargateArmGbHour: awsPrice(0.00356, 'GB-hour', 'fargate'),
} as const satisfies Record<string, Price>
