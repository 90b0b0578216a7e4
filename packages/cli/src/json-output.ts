import type { Io } from './io.ts'

/** Every command that prints a result has it. */
export const JSON_OPTION = ['--json', 'print JSON'] as const

export interface JsonOption {
  readonly json?: true
}

/** One JSON value in one line of standard output. */
export const printJson = (io: Pick<Io, 'out'>, value: unknown): void => io.out(`${JSON.stringify(value)}\n`)

/** Text after the options of a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  ${line}`).join('\n')}`
