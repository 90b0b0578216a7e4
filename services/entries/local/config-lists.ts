import * as z from 'zod'
import { IMAGE_NAME } from '../../model/containers/images.ts'

/** `name=value` pairs with commas between them. */
const pairs = (text: string): readonly (readonly [string, string])[] =>
  text.split(',').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [name.trim(), value.join('=').trim()]
  })
export const imageList = z
  .string()
  .transform((text) => Object.fromEntries(pairs(text)))
  .pipe(z.record(z.string().regex(IMAGE_NAME), z.string().min(1)))
  .describe('name=reference')
export const imagePoolList = z
  .string()
  .transform((text) => Object.fromEntries(pairs(text)))
  .pipe(
    z.record(
      z.string().regex(IMAGE_NAME),
      z
        .string()
        .regex(/^\d{1,2}$/, 'must be name=size pairs, such as slim=1')
        .transform(Number),
    ),
  )
