import type { HeaderFields } from '../../model/network/forwarded-headers.ts'
import { matchesHost } from '../../model/network/host.ts'
import type { NetworkRule } from '../../model/network/rule.ts'
import type { NetworkSecret } from '../../ports/network-gateway.ts'

/** Header names in lower case with their values in order. */
export type Headers = HeaderFields

/** What a request to one host may receive. */
export interface HostSecrets {
  readonly secrets: readonly NetworkSecret[]
  readonly byName: ReadonlyMap<string, NetworkSecret>
}

/** Secrets that belong to a host. The result is empty for a host without any, and then nothing is replaced, injected or redacted. */
export function secretsOf(secrets: readonly NetworkSecret[], host: string): HostSecrets {
  const own = secrets.filter(({ hosts }) => hosts.some((pattern) => matchesHost(pattern, host)))
  return { secrets: own, byName: new Map(own.map((secret) => [secret.name, secret])) }
}

/** Puts the values of secrets into the headers, in place. Returns the names of the secrets that were used, and other texts with them that must not come back. */
export function putSecrets(
  headers: Headers,
  { inject = [] }: Pick<NetworkRule, 'inject'>,
  { secrets, byName }: HostSecrets,
): { readonly names: readonly string[]; readonly sensitive: readonly string[] } {
  const names = new Set<string>()
  const sensitive: string[] = []
  for (const { header, secret: name, prefix = '' } of inject) {
    const secret = byName.get(name)
    if (secret === undefined) throw new MissingSecretError(name)
    headers[header] = [`${prefix}${secret.value}`]
    names.add(name)
  }
  for (const [header, values] of Object.entries(headers)) {
    headers[header] = values.map((value) => {
      const replaced = replaceIn(value, secrets, (name) => names.add(name))
      if (replaced.basic !== null) sensitive.push(replaced.basic)
      return replaced.text
    })
  }
  return { names: [...names], sensitive }
}

export class MissingSecretError extends Error {
  constructor(name: string) {
    super(`The secret ${name}, which the policy adds to this request, does not exist or is not for this host.`)
    this.name = 'MissingSecretError'
  }
}

const BASIC = /^(basic +)([a-z0-9+/=]+) *$/i

/** A user name or password of Basic authentication is base64, so the placeholder in it is too. */
function replaceIn(
  text: string,
  secrets: readonly NetworkSecret[],
  used: (name: string) => void,
): { readonly text: string; readonly basic: string | null } {
  const [, scheme, encoded] = BASIC.exec(text) ?? []
  if (scheme !== undefined && encoded !== undefined) {
    const plain = Buffer.from(encoded, 'base64').toString('latin1')
    const replaced = replacePlain(plain, secrets, used)
    if (replaced === plain) return { text, basic: null }
    const basic = Buffer.from(replaced, 'latin1').toString('base64')
    return { text: `${scheme}${basic}`, basic }
  }
  return { text: replacePlain(text, secrets, used), basic: null }
}

function replacePlain(text: string, secrets: readonly NetworkSecret[], used: (name: string) => void): string {
  let result = text
  for (const { name, placeholder, value } of secrets) {
    if (placeholder === '' || !result.includes(placeholder)) continue
    used(name)
    result = result.replaceAll(placeholder, () => value)
  }
  return result
}
