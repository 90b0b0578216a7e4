import { expect, it } from 'vitest'
import { checkPrograms, programsFor } from '../../scripts/doctor/account/hostile-programs.ts'
import { startServer } from '../support/local-server.ts'

it('the programs of the doctor have no effect outside a real sandbox', async () => {
  const server = await startServer({ env: { CELLBLOCK_POOL: '1' } })
  try {
    const all = programsFor('eu-west-1')
    expect(all.length).toBeGreaterThan(35)
    // Its own two and a sample. The security suite runs the whole corpus.
    const programs = all.filter((_, index) => index < 2 || index % 4 === 0)
    const finding = await checkPrograms({ url: server.url, key: server.apiKey }, programs)
    expect(finding).toMatchObject({ check: 'Worker', outcome: 'ok' })
  } finally {
    await server.stop()
  }
})
