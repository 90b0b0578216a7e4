import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import * as z from 'zod'
import { chainProblem, type AuditBlock } from './audit.ts'

const Block = z.strictObject({
  v: z.literal(1),
  tenant: z.string(),
  seq: z.int().min(1),
  at: z.int(),
  entries: z.array(
    z.strictObject({
      at: z.int(),
      keyId: z.string(),
      subject: z.string().nullable(),
      action: z.string(),
      status: z.int(),
      requestId: z.string(),
      targets: z.record(z.string(), z.string()),
    }),
  ),
  previousHash: z.string(),
  hash: z.string(),
})
/** The blocks of one tenant and UTC day, signed with Ed25519. */
const Digest = z.strictObject({
  v: z.literal(1),
  tenant: z.string(),
  day: z.iso.date(),
  blocks: z.array(Block),
  signature: z.base64(),
})
export type Digest = z.infer<typeof Digest>

const signed = ({ v, tenant, day, blocks }: Omit<Digest, 'signature'>): Buffer => Buffer.from(JSON.stringify([v, tenant, day, blocks]))

/** `privateKey` is an Ed25519 key in PEM. */
export function signDigest(
  { tenant, day, blocks }: { readonly tenant: string; readonly day: string; readonly blocks: readonly AuditBlock[] },
  privateKey: string,
): Digest {
  const digest = { v: 1 as const, tenant, day, blocks: Block.array().parse(blocks) }
  return { ...digest, signature: sign(null, signed(digest), createPrivateKey(privateKey)).toString('base64') }
}

/** Throws an Error that says what is wrong with the text of a digest, apart from its chain. */
export function readDigest(text: string, publicKey: string): Digest {
  const digest = Digest.parse(JSON.parse(text))
  const isGenuine = verify(null, signed(digest), createPublicKey(publicKey), Buffer.from(digest.signature, 'base64'))
  if (!isGenuine) throw new Error('the signature does not match the content and this public key')
  return digest
}

/** What is wrong with the chain of consecutive digests of one tenant; null when nothing is. */
export function digestsProblem(digests: readonly Digest[]): string | null {
  const sorted = digests.toSorted((a, b) => (a.day < b.day ? -1 : 1))
  const tenants = new Set(sorted.map(({ tenant }) => tenant))
  if (tenants.size > 1) return `the digests belong to ${tenants.size} tenants`
  const blocks = sorted.flatMap((digest) => digest.blocks)
  const foreign = blocks.find(({ tenant }) => !tenants.has(tenant))
  return foreign === undefined ? chainProblem(blocks, null) : `block ${foreign.seq} belongs to another tenant`
}
