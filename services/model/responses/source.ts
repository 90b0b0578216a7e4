/** A page that a text is based on. */
export interface Source {
  readonly url: string
  readonly title: string
}
