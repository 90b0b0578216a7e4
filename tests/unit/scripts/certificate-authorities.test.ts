import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { hostCertificateAuthorities } from '../../../scripts/setup/certificate-authorities.ts'

it('adds a corporate authority to those of the host once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-ca-'))
  try {
    const file = join(folder, 'corporate.crt')
    const subject = ['-subj', '/CN=Corporate CA', '-days', '2', '-nodes', '-keyout', join(folder, 'key.pem'), '-out', file]
    await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', ...subject])
    const without = hostCertificateAuthorities(undefined).split('BEGIN CERTIFICATE').length
    const withCorporate = hostCertificateAuthorities(file)
    expect(withCorporate.split('BEGIN CERTIFICATE').length).toBe(without + 1)
    expect(hostCertificateAuthorities(join(folder, 'absent.crt')).split('BEGIN CERTIFICATE').length).toBe(without)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
