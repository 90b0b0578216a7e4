import { describe, expect, it } from 'vitest'
import { GVISOR_RUNTIME, withGvisor } from '../../../scripts/setup/gvisor/ensure-gvisor.ts'

const added = { path: '/opt/runsc', runtimeArgs: ['--host-uds=create', '--network=none', '--platform=systrap'] }

describe('the settings of the engine with gVisor', () => {
  it('begin with the runtime where there were none', () => {
    expect(JSON.parse(withGvisor('', '/opt/runsc'))).toEqual({ runtimes: { [GVISOR_RUNTIME]: added } })
  })

  it('keep every other setting, and replace an older build', () => {
    const before = { 'storage-driver': 'overlay2', runtimes: { kata: { path: '/usr/bin/kata' }, [GVISOR_RUNTIME]: { path: '/opt/old' } } }
    expect(JSON.parse(withGvisor(JSON.stringify(before), '/opt/runsc'))).toEqual({
      'storage-driver': 'overlay2',
      runtimes: { kata: { path: '/usr/bin/kata' }, [GVISOR_RUNTIME]: added },
    })
  })

  it.each(['{"runtimes"', '{"runtimes": true}'])('are not written over if the engine cannot read them: %s', (text) => {
    expect(() => withGvisor(text, '/opt/runsc')).toThrow('Correct it')
  })
})
