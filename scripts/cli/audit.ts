import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { digestsProblem, readDigest, signDigest, type Digest } from '../../services/model/audit/digest.ts'
import type { AuditBlock } from '../../services/model/audit/audit.ts'
import { dayOf } from '../../services/model/usage/usage.ts'
import { readArguments } from './arguments.ts'
import { CommandError, type Command } from './command.ts'

export const auditKeygen: Command = {
  usage: 'audit keygen FILE',
  summary: 'make the Ed25519 key that signs audit digests: FILE and FILE.pub',
  async run(args, deps) {
    const { positionals } = readArguments(args, ['FILE'], {})
    const file = resolve(deps.folder, positionals[0] ?? '')
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
    await writeFile(`${file}.pub`, publicKey.export({ type: 'spki', format: 'pem' }))
    deps.out(`${file}\n${file}.pub\n`)
    return 0
  },
}

export const auditExport: Command = {
  usage: 'audit export TENANT KEY_FILE FOLDER',
  summary: 'write a signed digest of each day of the audit log of a tenant',
  async run(args, deps) {
    const { positionals } = readArguments(args, ['TENANT', 'KEY_FILE', 'FOLDER'], {})
    const [tenant = '', keyFile = '', folder = ''] = positionals
    const key = await readFile(resolve(deps.folder, keyFile), 'utf8')
    const days = new Map<string, AuditBlock[]>()
    for await (const block of (await deps.table()).audit.blocks(tenant)) {
      const day = dayOf(block.at)
      days.set(day, [...(days.get(day) ?? []), block])
    }
    if (days.size === 0) throw new CommandError(`Tenant ${tenant} has no audit log. Check the id with \`tenants list\`.`)
    for (const [day, blocks] of days) {
      const file = join(resolve(deps.folder, folder), `${tenant}-${day}.json`)
      await writeFile(file, `${JSON.stringify(signDigest(tenant, day, blocks, key))}\n`)
      deps.out(`${file}\n`)
    }
    return 0
  },
}

export const auditVerify: Command = {
  usage: 'audit verify PUBLIC_KEY_FILE DIGEST…',
  summary: 'check signatures and hash chain of consecutive audit digests, offline',
  async run(args, deps) {
    const [keyFile, ...files] = args
    if (keyFile === undefined || files.length === 0)
      throw new CommandError('The public key or the digests are missing. Name the file of the key and at least one digest.')
    const key = await readFile(resolve(deps.folder, keyFile), 'utf8')
    const digests: Digest[] = []
    for (const file of files) {
      const text = await readFile(resolve(deps.folder, file), 'utf8')
      try {
        digests.push(readDigest(text, key))
      } catch (cause) {
        throw new CommandError(
          `${file} is not genuine: ${cause instanceof Error ? cause.message : String(cause)}. Check the key, and export the digest again.`,
          { cause },
        )
      }
    }
    const problem = digestsProblem(digests)
    if (problem !== null)
      throw new CommandError(
        `The audit log was altered: ${problem}. Check that you gave every digest of the period. If you did, treat the log as tampered with.`,
      )
    const blocks = digests.flatMap((digest) => digest.blocks)
    const entries = blocks.reduce((sum, block) => sum + block.entries.length, 0)
    deps.out(`${digests.length} digests, ${blocks.length} blocks, ${entries} entries: signatures and chain are intact.\n`)
    return 0
  },
}
