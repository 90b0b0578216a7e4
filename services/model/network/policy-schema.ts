import * as z from 'zod'
import { boundedList } from '../bounded-schemas.ts'
import { lazySchema } from '../lazy-schema.ts'
import { normalizeRange } from './address.ts'
import { normalizeHostPattern } from './host.ts'
import { PATH_PATTERN } from './path-pattern.ts'
import { PRESET_NAMES } from './presets.ts'
import { METHODS } from './rule.ts'

export const POLICY_BOUNDS = {
  rules: 100,
  denied: 100,
  paths: 20,
  pathLength: 256,
  injections: 8,
  secrets: 32,
  hostLength: 260,
  bytes: 1024 ** 4,
  /** The whole policy as JSON: it is stored in the container's row. */
  json: 16 * 1024,
} as const

/** The name of a secret is also the name of the environment variable with its placeholder. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const HEADER_NAME = /^[a-z0-9-]{1,64}$/
/** Headers that determine where a request goes and where it ends. */
const RESERVED_HEADERS = /^(?:host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*)$/

const FULL_NAME =
  "is not a host name: give a full name like 'api.example.com', '*.example.com' for all names below one, '*', or a public IPv4 address"

/** A host of a rule, in its normal form. */
export const HostPattern = lazySchema(() =>
  z
    .string()
    .max(POLICY_BOUNDS.hostLength)
    .transform((host, context) => {
      const normal = normalizeHostPattern(host.trim())
      if (normal !== null) return normal
      context.issues.push({ code: 'custom', message: FULL_NAME, input: host })
      return z.NEVER
    }),
)

const Range = lazySchema(() =>
  z.string().transform((range, context) => {
    const normal = normalizeRange(range.trim())
    if (normal !== null) return normal
    context.issues.push({ code: 'custom', message: 'give an IPv4 address or range', input: range })
    return z.NEVER
  }),
)

export const SecretName = lazySchema(() =>
  z.string().regex(SECRET_NAME, 'give a name of letters, digits and underscores, as of an environment variable'),
)

const Injection = lazySchema(() =>
  z.strictObject({
    header: z
      .string()
      .toLowerCase()
      .regex(HEADER_NAME, 'give the name of a header')
      .refine((name) => !RESERVED_HEADERS.test(name), 'this header cannot be set'),
    secret: SecretName(),
    prefix: z
      .string()
      .regex(/^[\x20-\x7e]{1,64}$/, 'give at most 64 printable characters')
      .optional(),
  }),
)

const ruleFields = lazySchema(() => ({
  host: HostPattern(),
  methods: boundedList(z.enum(METHODS), { min: 1, max: METHODS.length }).optional(),
  paths: boundedList(
    z
      .string()
      .max(POLICY_BOUNDS.pathLength)
      .regex(PATH_PATTERN, "give a path that begins with '/'; '*' stands for a part of a segment, '**' for any segments"),
    { min: 1, max: POLICY_BOUNDS.paths },
  ).optional(),
}))

const presets = lazySchema(() => boundedList(z.enum(PRESET_NAMES), { max: PRESET_NAMES.length }).default([]))

/** For `refine`. */
export const smallPolicy = [
  (policy: object): boolean => JSON.stringify(policy).length <= POLICY_BOUNDS.json,
  `give a policy of at most ${POLICY_BOUNDS.json / 1024} KiB of JSON`,
] as const

export const policyFields = lazySchema(() => ({
  allow: boundedList(
    z.strictObject({ ...ruleFields(), inject: boundedList(Injection(), { min: 1, max: POLICY_BOUNDS.injections }).optional() }),
    {
      max: POLICY_BOUNDS.rules,
    },
  ).default([]),
  presets: presets(),
  deny: boundedList(Range(), { max: POLICY_BOUNDS.denied }).optional(),
  secrets: boundedList(SecretName(), { max: POLICY_BOUNDS.secrets }).optional(),
  bytes: z.int().min(1).max(POLICY_BOUNDS.bytes).optional(),
}))

export const NetworkPolicySchema = lazySchema(() => z.strictObject(policyFields()).refine(...smallPolicy))

export const NetworkCeilingSchema = lazySchema(() =>
  z
    .strictObject({ allow: boundedList(z.strictObject(ruleFields()), { max: POLICY_BOUNDS.rules }).default([]), presets: presets() })
    .refine(...smallPolicy),
)
