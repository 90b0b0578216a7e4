import { CORE_SCHEMA, load } from 'js-yaml'
import * as z from 'zod'
import { ServiceError } from '../../model/errors.ts'

const MANIFEST = 'SKILL.md'
/** The bounds of the Agent Skills specification. */
const frontMatterSchema = z.object({
  name: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'use lower-case letters, digits and single hyphens'),
  description: z.string().trim().min(1).max(1024),
})
const MAX_FRONT_MATTER_CHARS = 16_384
type FrontMatter = z.infer<typeof frontMatterSchema>

/** The fields at the top of a skill's manifest. Throws ServiceError. */
export function readFrontMatter(content: Uint8Array, param: string): FrontMatter {
  const text = Buffer.from(content)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
  const [, yaml] = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(text.slice(0, MAX_FRONT_MATTER_CHARS)) ?? []
  const example = `Begin ${MANIFEST} with "---", "name: my-skill", "description: …" and "---", a line each.`
  if (yaml === undefined) throw refuse(`${MANIFEST} has no front matter. ${example}`, param)
  let fields: unknown
  try {
    fields = load(yaml, { schema: CORE_SCHEMA, maxAliases: 0 })
  } catch (cause) {
    throw refuse(`The front matter of ${MANIFEST} is not valid YAML. ${example}`, param, cause)
  }
  const parsed = frontMatterSchema.safeParse(fields)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw refuse(`The front matter of ${MANIFEST} has a wrong ${issue?.path.join('.') || 'form'}: ${issue?.message}. ${example}`, param)
}

const refuse = (message: string, param: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid_request', message, { param, ...(cause === undefined ? {} : { cause }) })
