import 'reflect-metadata'
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { BoundedCache } from '../../model/bounded-cache.ts'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3_650
const CERTIFICATE_DAYS = 7
/** A certificate is used for this long; it is valid for some days before and after. */
const RENEW_MS = 2 * DAY_MS
const MAX_CERTIFICATES = 1_000

/** The certificate authority of a deployment, PEM. */
export interface Authority {
  readonly certificate: string
  readonly privateKey: string
}

/** A new authority. Sandboxes of this deployment trust it, and nothing else does. */
export async function createAuthority(now: number): Promise<Authority> {
  const keys = await newKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: 'CN=Cellblock network gateway',
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), privateKey: await privateKeyOf(keys) }
}

/** Issues certificates for the hosts that a policy allows. One key serves them all for the life of the process. */
export class CertificateIssuer {
  readonly #authority: Authority
  readonly #now: () => number
  readonly #issued = new BoundedCache<string, Promise<SecureContext>>(MAX_CERTIFICATES)
  #keys: Promise<{ readonly signing: CryptoKey; readonly own: CryptoKeyPair; readonly pem: string }> | null = null

  constructor(authority: Authority, now: () => number = Date.now) {
    this.#authority = authority
    this.#now = now
  }

  /** Whether the certificate of `host` is there. */
  has(host: string): boolean {
    return this.#issued.get(this.#keyOf(host)) !== undefined
  }

  /** A TLS context for `host`, which is a normal name or an address. */
  contextOf(host: string): Promise<SecureContext> {
    return this.#issued.getOrCreate(this.#keyOf(host), () => this.#issue(host, this.#now()))
  }

  #keyOf(host: string): string {
    return `${Math.floor(this.#now() / RENEW_MS)} ${host}`
  }

  async #issue(host: string, now: number): Promise<SecureContext> {
    const { signing, own, pem } = await (this.#keys ??= this.#readKeys())
    const issuer = new X509Certificate(this.#authority.certificate)
    const certificate = await X509CertificateGenerator.create({
      serialNumber: newSerial(),
      // A common name has at most 64 characters; clients read the alternative name.
      subject: 'CN=Cellblock network gateway',
      issuer: issuer.subject,
      notBefore: new Date(now - DAY_MS),
      notAfter: new Date(now + CERTIFICATE_DAYS * DAY_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: own.publicKey,
      signingKey: signing,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
        await AuthorityKeyIdentifierExtension.create(issuer),
        await SubjectKeyIdentifierExtension.create(own.publicKey),
      ],
    })
    return createSecureContext({ key: pem, cert: certificate.toString('pem'), minVersion: 'TLSv1.2' })
  }

  async #readKeys() {
    const der = PemConverter.decode(this.#authority.privateKey)[0]
    if (der === undefined) throw new Error('The private key of the network gateway is not PEM.')
    const signing = await crypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign'])
    const own = await newKeys()
    return { signing, own, pem: await privateKeyOf(own) }
  }
}

const newKeys = (): Promise<CryptoKeyPair> => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

const privateKeyOf = async ({ privateKey }: CryptoKeyPair): Promise<string> =>
  PemConverter.encode(await crypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')

/** Positive, as RFC 5280 demands. */
const newSerial = (): string => `01${randomBytes(15).toString('hex')}`
