import { expect, it } from 'vitest'
import { ConfigError, readLocalConfig } from '../../../services/entries/local/config.ts'

it.for([
  [{ PORT: 'abc' }, 'PORT must be a whole number from 0 to 65535.'],
  [{ PORT: '70000' }, 'PORT must be a whole number from 0 to 65535.'],
  [{ PORT: '-1' }, 'PORT must be a whole number from 0 to 65535.'],
  [{ CELLBLOCK_POOL: '1.5' }, 'CELLBLOCK_POOL must be a whole number from 0 to 50.'],
  [{ CELLBLOCK_API_KEY: 'short' }, 'CELLBLOCK_API_KEY must have at least 16 characters.'],
  [{ CELLBLOCK_LOG: 'loud' }, 'CELLBLOCK_LOG must be one of silent, events.'],
  [{ CELLBLOCK_PUBLIC_URL: 'here' }, 'CELLBLOCK_PUBLIC_URL must be a whole address, such as https://code.example.org.'],
  [{ CELLBLOCK_POOL_MAX: '51' }, 'CELLBLOCK_POOL_MAX must be a whole number from 0 to 50.'],
  [{ CELLBLOCK_POOL_MOST: '4' }, 'CELLBLOCK_POOL_MOST is now CELLBLOCK_POOL_MAX. Rename the variable.'],
  [{ CELLBLOCK_E2B_TEMPLATES: 'mine' }, 'CELLBLOCK_E2B_TEMPLATES must be a list such as my-template=standard,team/reports:v2=full.'],
  [
    { CORS_ORIGINS: 'https://a.example, https://*' },
    'CORS_ORIGINS.1 must be origins such as https://app.example.com, separated by commas.',
  ],
  [
    { CELLBLOCK_NETWORK_PIP_INDEX: 'https://user:secret@pypi.example.com/simple' },
    'CELLBLOCK_NETWORK_PIP_INDEX must be an https address of a host, without a port and a password, such as https://pypi.example.com/simple.',
  ],
  [
    { CELLBLOCK_NETWORK_NPM_REGISTRY: 'https://10.0.0.5/' },
    'CELLBLOCK_NETWORK_NPM_REGISTRY must be an https address of a host, without a port and a password, such as https://pypi.example.com/simple.',
  ],
  [
    { CELLBLOCK_NETWORK_PRIVATE_HOSTS: 'pypi.example.com=here' },
    'CELLBLOCK_NETWORK_PRIVATE_HOSTS must be host names, each alone or with an address, such as pypi.example.com=10.0.0.5:8443.',
  ],
  [{ PORT: 'x', CELLBLOCK_POOL: 'y' }, 'PORT must be a whole number from 0 to 65535. CELLBLOCK_POOL must be a whole number from 0 to 50.'],
] as const)('explains the valid values for %o', ([env, sentence]) => {
  expect(() => readLocalConfig([], env)).toThrow(new ConfigError(sentence))
})

it('treats an empty variable as unset', () => {
  expect(readLocalConfig([], { PORT: '', MAX_OPEN_STREAMS: '' })).toMatchObject({ port: 8787, maxOpenStreams: 1_000 })
})

it('parses the allowed origins as a list', () => {
  const { corsOrigins } = readLocalConfig([], { CORS_ORIGINS: 'https://a.example, http://localhost:3000' })
  expect(corsOrigins).toEqual(['https://a.example', 'http://localhost:3000'])
  expect(readLocalConfig([], {}).corsOrigins).toEqual([])
})
