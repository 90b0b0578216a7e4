import { languagesOf, type Language } from '../../model/containers/images.ts'
import { imageOf } from '../../operations/tenancy/check-limits.ts'
import type { RunCommandRequest } from '../../operations/commands/run-command.ts'
import type { Call } from '../../http/route.ts'
import { WireError } from './errors.ts'

type CommandParts = Pick<RunCommandRequest, 'argv' | 'stdin'>

/** How code of a language runs: in the container's Python session, or as a process. */
export type WireLanguage =
  | { readonly kind: 'session'; readonly needs: Language }
  | { readonly kind: 'command'; readonly needs: Language; readonly command: (code: string, args: readonly string[]) => CommandParts }

/** Node reads the program from its input, because one argument of a process is at most 128 KiB. */
const node = (needs: Language, inputType: readonly string[]): WireLanguage => ({
  kind: 'command',
  needs,
  command: (code, args) => ({ argv: ['node', ...inputType, '-', ...args], stdin: Buffer.from(code) }),
})
const PYTHON: WireLanguage = { kind: 'session', needs: 'python' }
const BASH: WireLanguage = {
  kind: 'command',
  needs: 'bash',
  command: (code, args) => ({ argv: ['/bin/bash', '-lc', code, 'bash', ...args] }),
}
const JAVASCRIPT = node('javascript', [])
const TYPESCRIPT = node('typescript', ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript'])

const R: WireLanguage = {
  kind: 'command',
  needs: 'r',
  command: (code, args) => ({ argv: ['R', '--no-echo', '--vanilla', '--args', ...args], stdin: Buffer.from(code) }),
}

/** The names that clients send, in lower case. */
const LANGUAGES: Readonly<Record<string, WireLanguage>> = {
  py: PYTHON,
  python: PYTHON,
  python3: PYTHON,
  bash: BASH,
  sh: BASH,
  js: JAVASCRIPT,
  javascript: JAVASCRIPT,
  node: JAVASCRIPT,
  nodejs: JAVASCRIPT,
  ts: TYPESCRIPT,
  typescript: TYPESCRIPT,
  r: R,
}

/**
 * The language of a name, and the image of a new container that has it when the account's default image lacks it. Throws WireError when no
 * image of this server has it.
 */
export async function findLanguage(
  { deps, caller }: Pick<Call, 'deps' | 'caller'>,
  name: string,
): Promise<{ readonly language: WireLanguage; readonly image?: string }> {
  const key = name.toLowerCase()
  const language = Object.hasOwn(LANGUAGES, key) ? LANGUAGES[key] : undefined
  if (language === undefined)
    throw new WireError('unsupported_capability', `The language ${JSON.stringify(name)} is not available. Use py, bash, js, ts or r.`)
  const isIn = (image: string): boolean => languagesOf(image).includes(language.needs)
  if (isIn(await imageOf(deps, { tenant: caller.tenant, image: null }))) return { language }
  const image = deps.images.names.find(isIn)
  if (image === undefined)
    throw new WireError(
      'unsupported_capability',
      `No image of this server has ${language.needs}. Use py or bash, or ask the operator for another image.`,
    )
  return { language, image }
}
