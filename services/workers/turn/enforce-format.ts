import { trimText } from '../../model/trim-text.ts'
import type { Entry } from '../../model/responses/items/entry.ts'
import type { AnswerStream } from './answer/answer-stream.ts'
import { SchemaError } from './format/json-schema.ts'
import { checkText, repairRequest, type CheckedText, type OutputFormat } from './format/output-format.ts'

/** How often the model is asked for a corrected answer. */
const MAX_REPAIRS = 2
/** Length of a wrong answer that the model reads again, characters. */
const MAX_SHOWN_CHARS = 20_000

export interface EnforceOptions {
  /** Corrections that the model has been asked for. */
  readonly repairs: number
  /** The model has to explain why its calls failed, which no schema has a place for. */
  readonly isLast: boolean
  /** Fenced code in the answer is a call. */
  readonly wantsCode: boolean
}

/** The entries that ask for a correction, or why the format cannot be used; null when the answer counts as it is now. */
export type EnforcedFormat = { readonly corrections: readonly Entry[] } | { readonly error: string } | null

/**
 * Checks the text of a complete answer, which readers have not received yet. A text that satisfies the format stays, as JSON only. Otherwise the answer
 * is dropped, and a correction is needed; after the last correction the answer becomes a refusal.
 */
export async function enforceFormat(
  format: OutputFormat,
  answer: AnswerStream,
  { repairs, isLast, wantsCode }: EnforceOptions,
): Promise<EnforcedFormat> {
  const text = answer.finalText(wantsCode)
  if (text === null) return null
  const checked = check(format, text)
  if ('error' in checked) {
    answer.replaceText('')
    return checked
  }
  if ('json' in checked) answer.replaceText(checked.json)
  else if (isLast) await answer.refuse(text)
  else if (repairs >= MAX_REPAIRS) await answer.refuse(refusalOf(format, repairs + 1, checked.problem))
  else {
    answer.replaceText('')
    const request = repairRequest(checked.problem, format.schema)
    return {
      corrections: [
        { kind: 'said', text: trimText(text, MAX_SHOWN_CHARS) },
        { kind: 'user', content: request },
      ],
    }
  }
  return null
}

function check(format: OutputFormat, text: string): CheckedText | { readonly error: string } {
  try {
    return checkText(format, text)
  } catch (cause) {
    if (cause instanceof SchemaError) return { error: cause.message }
    throw cause
  }
}

const refusalOf = ({ name }: OutputFormat, attempts: number, problem: string): string =>
  `The model gave no answer in the requested format ${JSON.stringify(name)} in ${attempts} attempts. The last one: ${problem}`
