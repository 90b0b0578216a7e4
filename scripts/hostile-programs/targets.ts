/** The targets of the programs. None of them is secret. */
export interface Targets {
  readonly gateway: string
  readonly port: number
  readonly flag: string
  readonly engine: string
  readonly metadata: string
  readonly credentials: string
  readonly resolver: string
  readonly sibling: string
  readonly siblingPort: number
}
