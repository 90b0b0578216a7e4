import { expect, it } from 'vitest'
import { portsDomainOf } from '../../../services/entries/local/config-ports.ts'

it('a server on this machine has its ports below localhost', () => {
  expect(portsDomainOf(undefined, undefined)).toBe('localhost')
  expect(portsDomainOf(undefined, 'http://localhost:8787')).toBe('localhost')
})

it('a server with a public address has ports only below a domain that the operator names', () => {
  expect(portsDomainOf(undefined, 'https://code.example.org')).toBeNull()
  expect(portsDomainOf('sandboxes.example.net:8443', 'https://code.example.org')).toBe('sandboxes.example.net:8443')
  expect(portsDomainOf('off', undefined)).toBeNull()
})

it.each(['code.example.org', 'example.org', 'ports.code.example.org', 'org'])(
  'refuses %s, where programs could set cookies for the page',
  (domain) => {
    expect(portsDomainOf(domain, 'https://code.example.org')).toMatchObject({
      problem: expect.stringContaining('cookies for code.example.org'),
    })
  },
)
