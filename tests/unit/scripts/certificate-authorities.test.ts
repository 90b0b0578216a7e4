import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { hostCertificateAuthorities } from '../../../scripts/setup/certificate-authorities.ts'

it("adds a company's authority to the host's own, once", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-ca-'))
  try {
    const file = join(folder, 'company.crt')
    const subject = ['-subj', '/CN=A company', '-days', '2', '-nodes', '-keyout', join(folder, 'key.pem'), '-out', file]
    await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', ...subject])
    const without = hostCertificateAuthorities(undefined).split('BEGIN CERTIFICATE').length
    const withCompany = hostCertificateAuthorities(file)
    expect(withCompany.split('BEGIN CERTIFICATE').length).toBe(without + 1)
    expect(hostCertificateAuthorities(join(folder, 'absent.crt')).split('BEGIN CERTIFICATE').length).toBe(without)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
