import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import tls from 'node:tls'

/**
 * PEM of the certificate authorities that this machine trusts beyond Node's public ones, such as a corporate proxy's. Empty on most machines.
 * Sources: the system's store, NODE_EXTRA_CA_CERTS and `caFile`.
 */
export function hostCertificateAuthorities(caFile: string | undefined): string {
  const fromFile = caFile && existsSync(caFile) ? (readFileSync(caFile, 'utf8').match(CERTIFICATE) ?? []) : []
  const known = new Set(tls.getCACertificates('bundled').map(fingerprint))
  const extra = new Map<string, string>()
  for (const pem of [...tls.getCACertificates('system'), ...tls.getCACertificates('extra'), ...fromFile]) {
    const print = fingerprint(pem)
    if (print !== undefined && !known.has(print)) extra.set(print, pem.trim())
  }
  return [...extra]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([, pem]) => `${pem}\n`)
    .join('')
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Undefined for a certificate that cannot be parsed; old stores contain some. */
function fingerprint(pem: string): string | undefined {
  try {
    return new X509Certificate(pem).fingerprint256
  } catch {
    return undefined
  }
}
