import type { Edit } from '../copy-project.ts'

/** A removed protection and what must fail then: programs of the corpus, a test file, or the tests of it whose titles contain `only`. */
export interface Mutant {
  readonly protection: string
  readonly edits: readonly Edit[]
  readonly killer: { readonly programs: readonly string[] } | { readonly test: string; readonly only?: string }
  /** The protection prevents a hang, so a time limit of the killer is the failure that it causes. */
  readonly hangs?: boolean
}
