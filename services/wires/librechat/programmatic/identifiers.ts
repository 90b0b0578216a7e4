import { ServiceError } from '../../../model/errors.ts'

export type ProgramLanguage = 'python' | 'bash'

const RESERVED: Readonly<Record<ProgramLanguage, ReadonlySet<string>>> = {
  python: new Set(
    `False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda
    nonlocal not or pass raise return try while with yield`.split(/\s+/),
  ),
  bash: new Set(
    `if then else elif fi case esac for while until do done in function select time coproc declare typeset local readonly export unset`.split(
      /\s+/,
    ),
  ),
}

/** The function of a tool in the program. Clients compute the same name: they tell the model which functions exist. */
function identifierOf(name: string, language: ProgramLanguage): string {
  const word = name.replaceAll(/[-\s]/g, '_').replaceAll(/\W/g, '')
  const identifier = /^\d/.test(word) ? `_${word}` : word
  return RESERVED[language].has(identifier) ? `${identifier}_tool` : identifier
}

/** The function of each tool, with the tool's name. Throws ServiceError `invalid_request` when two tools get the same function. */
export function identifiersOf(names: readonly string[], language: ProgramLanguage): readonly (readonly [string, string])[] {
  const byIdentifier = new Map<string, string>()
  for (const name of names) {
    const identifier = identifierOf(name, language)
    const other = byIdentifier.get(identifier)
    if (identifier === '')
      throw new ServiceError('invalid_request', `The tool name ${JSON.stringify(name)} has no letter or digit. Rename the tool.`, {
        param: 'tools',
      })
    if (other !== undefined && other !== name)
      throw new ServiceError(
        'invalid_request',
        `The tools ${JSON.stringify(other)} and ${JSON.stringify(name)} would both be the function ${identifier}. Rename one of them.`,
        { param: 'tools' },
      )
    byIdentifier.set(identifier, name)
  }
  return [...byIdentifier]
}
