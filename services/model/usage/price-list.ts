/** The list prices of the platform that sandboxes run on. Results estimate the cost of a sandbox from them. */
export interface PriceList {
  /** The day on which the prices were read, `YYYY-MM-DD`. */
  readonly asOf: string
  /** The platform's Region with these prices. */
  readonly region: string
  /** The maximum for one second of a sandbox, US dollars. */
  readonly maxUsdPerSecond: number
}
