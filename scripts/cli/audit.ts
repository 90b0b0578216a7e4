import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CliError } from '../../packages/cli/src/errors.ts'
import type { Io } from '../../packages/cli/src/io.ts'
import { examples } from '../../packages/cli/src/json-output.ts'
import type { AddCommand } from '../../packages/cli/src/program.ts'
import { digestsProblem, readDigest, signDigest, type Digest } from '../../services/model/audit/digest.ts'
import type { AuditBlock } from '../../services/model/audit/audit.ts'
import { dayOf } from '../../services/model/usage/usage.ts'

export const addAudit: AddCommand = (program, { io }) => {
  const audit = program.command('audit').description('Signs and verifies audit logs.')
  audit
    .command('keygen')
    .description('Makes the Ed25519 key that signs audit digests: FILE and FILE.pub.')
    .argument('<file>')
    .addHelpText('after', examples('npm run cli -- audit keygen signing.pem'))
    .action((file: string) => createSigningKey(io, file))
  audit
    .command('export')
    .description('Writes a signed digest of each day of the audit log of a tenant.')
    .argument('<tenant>')
    .argument('<key-file>')
    .argument('<folder>')
    .addHelpText('after', examples('npm run cli -- audit export tnt_… signing.pem digests'))
    .action((tenant: string, keyFile: string, folder: string) => exportDigests(io, { tenant, keyFile, folder }))
  audit
    .command('verify')
    .description('Checks signatures and hash chain of consecutive audit digests, offline.')
    .argument('<public-key-file>')
    .argument('<digests...>')
    .addHelpText('after', examples('npm run cli -- audit verify signing.pem.pub digests/tnt_…-2026-11-22.json'))
    .action((keyFile: string, files: readonly string[]) => verifyDigests(io, keyFile, files))
}

async function createSigningKey(io: Io, name: string): Promise<void> {
  const file = resolve(io.folder, name)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
  await writeFile(`${file}.pub`, publicKey.export({ type: 'spki', format: 'pem' }))
  io.out(`${file}\n${file}.pub\n`)
}

async function exportDigests(
  io: Io,
  { tenant, keyFile, folder }: { readonly tenant: string; readonly keyFile: string; readonly folder: string },
): Promise<void> {
  const key = await readFile(resolve(io.folder, keyFile), 'utf8')
  const days = new Map<string, AuditBlock[]>()
  for await (const block of blocksOf(io, tenant)) {
    const day = dayOf(block.at)
    days.set(day, [...(days.get(day) ?? []), block])
  }
  if (days.size === 0) throw new CliError(`The audit log of ${tenant} is empty.`)
  for (const [day, blocks] of days) {
    const file = join(resolve(io.folder, folder), `${tenant}-${day}.json`)
    await writeFile(file, `${JSON.stringify(signDigest({ tenant, day, blocks }, key))}\n`)
    io.out(`${file}\n`)
  }
}

/** The whole log: a page ends before it is too large for one answer. */
async function* blocksOf(io: Io, tenant: string): AsyncGenerator<AuditBlock> {
  const api = await io.api()
  const path = `/v1/admin/tenants/${encodeURIComponent(tenant)}/audit/blocks`
  for (let after = 0, last = -1; after !== last;) {
    last = after
    for await (const line of api.lines(`${path}?after=${after}`)) {
      const block = line as AuditBlock
      after = block.seq
      yield block
    }
  }
}

async function verifyDigests(io: Io, keyFile: string, files: readonly string[]): Promise<void> {
  const key = await readFile(resolve(io.folder, keyFile), 'utf8')
  const digests: Digest[] = []
  for (const file of files) {
    const text = await readFile(resolve(io.folder, file), 'utf8')
    try {
      digests.push(readDigest(text, key))
    } catch (cause) {
      throw new CliError(
        `${file} is not genuine: ${cause instanceof Error ? cause.message : String(cause)}. Check the key, and export the digest again.`,
        { cause },
      )
    }
  }
  const problem = digestsProblem(digests)
  if (problem !== null)
    throw new CliError(
      `The audit log was altered: ${problem}. Check that you gave every digest of the period. If you did, treat the log as tampered with.`,
    )
  const blocks = digests.flatMap((digest) => digest.blocks)
  const entries = blocks.reduce((sum, block) => sum + block.entries.length, 0)
  io.out(`${digests.length} digests, ${blocks.length} blocks, ${entries} entries: signatures and chain are intact.\n`)
}
