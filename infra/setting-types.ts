import * as z from 'zod'

export const integer = (min: number, max: number, unit: string) =>
  z
    .int({ error: `must be a whole number of ${unit} from ${min} to ${max}` })
    .min(min, { error: `must be at least ${min} ${unit}` })
    .max(max, { error: `must be at most ${max} ${unit}` })
export const matching = (pattern: RegExp, sentence: string) => z.string({ error: sentence }).regex(pattern, { error: sentence })
