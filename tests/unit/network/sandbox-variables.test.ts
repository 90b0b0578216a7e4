import { expect, it } from 'vitest'
import { networkVariables } from '../../../services/model/network/sandbox-variables.ts'

const INDEXES = { pip: 'https://packages.example.com/pypi/simple', npm: 'https://npm.example.com/' }
const indexesFor = (hosts: readonly string[]) => {
  const { PIP_INDEX_URL, NPM_CONFIG_REGISTRY } = networkVariables(hosts, INDEXES)
  return { PIP_INDEX_URL, NPM_CONFIG_REGISTRY }
}

it("a container that may reach the operator's indexes gets their addresses", () => {
  expect(indexesFor(['*.example.com'])).toEqual({ PIP_INDEX_URL: INDEXES.pip, NPM_CONFIG_REGISTRY: INDEXES.npm })
})

it('a container that may reach one of them keeps the other public one', () => {
  expect(indexesFor(['npm.example.com', 'pypi.org'])).toEqual({ NPM_CONFIG_REGISTRY: INDEXES.npm })
})

it('without settings of the operator pip and npm keep their indexes', () => {
  expect(networkVariables(['pypi.org'])).not.toHaveProperty('PIP_INDEX_URL')
})

it('programs that know only one form of a variable find the proxy', () => {
  const variables = networkVariables([])
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'])
    expect(variables[name]).toBe('http://127.0.0.1:3128')
})
