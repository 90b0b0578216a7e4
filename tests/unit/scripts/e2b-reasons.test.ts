import { expect, it } from 'vitest'
import { whyNotOffered } from '../../client-compat/e2b-suites/reasons.ts'

const failed = (file: string, title: string) => ({ file, title, isPassed: false, message: 'failed' })

it('a failure on a server with host names is not counted as a test that needs host names', () => {
  const root = failed('tests/sandbox/files/signing.test.ts', 'file signing test upload file with valid signing as root user')
  expect(whyNotOffered(root)).toBeNull()
  const python = failed('tests/sync/sandbox_sync/files/test_secured.py', 'test_download_url_with_signing')
  expect(whyNotOffered(python)).toContain('CELLBLOCK_E2B_DOMAIN')
})

it('a failing test of snapshots counts as a failure', () => {
  expect(whyNotOffered(failed('test_openai_agents.py', 'test_native_snapshot'))).toBeNull()
})
