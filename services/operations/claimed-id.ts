/** The id of the object that a call creates. */
export interface ClaimedId {
  readonly id: string
  /** When the first of these calls claimed it, epoch ms. */
  readonly at: number
  /** An earlier call claimed the id: the object may exist already. */
  readonly isReplay: boolean
}
