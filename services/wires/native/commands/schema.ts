import { constants } from 'node:os'
import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { answerSchema, lazySchema } from '../../../model/lazy-schema.ts'
import { EXECUTION_STATUSES } from '../../../model/executions/execution.ts'
import { LIMITS } from '../../../model/limits.ts'
import { commandArgument, scopeFields } from '../../../http/execution-scope.ts'
import { ExecutionUsage, headFields, requestFields, tailFields, waitField } from '../work/schema.ts'

const MAX_ARGUMENTS = 1_000
const cells = (description: string) => z.int().min(1).max(1_000).openapi({ description })

const TerminalSize = lazySchema(() => z.strictObject({ cols: cells('Columns.'), rows: cells('Rows.') }))

/** Exactly one of `argv` and `command`. */
export const RunCommand = lazySchema(() =>
  z
    .strictObject({
      argv: boundedList(commandArgument(), { min: 1, max: MAX_ARGUMENTS })
        .nullish()
        .openapi({ type: 'array', items: { type: 'string' }, description: 'The program and its arguments, without a shell.' }),
      command: commandArgument()
        .min(1)
        .nullish()
        .openapi({ description: 'A command line for `bash -lc`.', example: 'ls -l && wc -l *.csv' }),
      ...scopeFields(),
      stdin: z
        .string()
        .nullish()
        .openapi({ description: 'The whole standard input, or `open` to send it later with `…/stdin`. Without it the input is empty.' }),
      pty: TerminalSize().nullish().openapi({
        description: 'Runs in a terminal of this size: one output stream, input is open. At most 8 per container.',
      }),
      ...requestFields(`${LIMITS.defaultTimeoutSeconds} by default, in the background ${LIMITS.maxTimeoutSeconds}.`),
      background: z.boolean().nullish().openapi({
        description:
          'Answers at once. The command does not keep the container awake. Hibernation ends it and names it in `lost`; suspension (`--runtime gvisor`) keeps it.',
      }),
    })
    .openapi('RunCommand'),
)

export const WaitQuery = lazySchema(() => z.strictObject({ wait: waitField() }))

const isSignal = (name: string): boolean => Object.hasOwn(constants.signals, name)
export const CommandStdin = lazySchema(() =>
  z
    .strictObject({
      data: z.string().nullish().openapi({ description: 'Text that is appended to the standard input.' }),
      close: z.literal(true).nullish().openapi({ description: 'Ends the standard input, after `data`.' }),
    })
    .refine(({ data, close }) => typeof data === 'string' || close === true, 'give data, close, or both')
    .openapi('CommandStdin'),
)
export const CommandSignal = lazySchema(() =>
  z
    .strictObject({ signal: z.string().refine(isSignal, 'give the name of a signal, such as SIGTERM').openapi({ example: 'SIGTERM' }) })
    .openapi('CommandSignal'),
)
export const CommandResize = lazySchema(() => TerminalSize().openapi('CommandResize'))

export const Command = answerSchema(() =>
  z
    .object({
      ...headFields('command', 'cmd_01kajv9h2s8p0ww3d4dq4cs1zt'),
      argv: z.array(z.string()),
      cwd: z.string().nullable(),
      background: z.boolean(),
      pty: z.object({ cols: z.int(), rows: z.int() }).nullable(),
      status: z
        .enum(EXECUTION_STATUSES)
        .openapi({ description: '`succeeded` for exit code 0, `failed` with reason `error` for another one.' }),
      exit_code: z.int().nullable(),
      signal: z.string().nullable().openapi({ description: 'Name of the signal that ended the command.' }),
      stdout: z
        .string()
        .openapi({ description: 'Head and tail within the cap; while it runs, the output so far. A terminal has no stderr.' }),
      stderr: z.string(),
      ...tailFields(),
      usage: ExecutionUsage().nullable().openapi({
        description: 'Null until it has ended. `cpu_ms` is that of the whole sandbox while the command ran.',
      }),
    })
    .openapi('Command'),
)
