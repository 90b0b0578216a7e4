import { expect, it } from 'vitest'
import { readProxyConfig } from '../../../services/entries/engine-proxy/config.ts'
import { readCall } from '../../../services/entries/engine-proxy/read-call.ts'

const filters = (labels: readonly string[]): string => encodeURIComponent(JSON.stringify({ label: labels }))

it.each([
  ['GET', '/_ping', { kind: 'ping' }],
  ['GET', '/v1.47/info', { kind: 'info' }],
  ['GET', '/images/cellblock-sandbox:dev/json', { kind: 'image', image: 'cellblock-sandbox:dev' }],
  [
    'GET',
    `/containers/json?all=true&filters=${filters(['cellblock.stage=local-1'])}`,
    { kind: 'list', labels: ['cellblock.stage=local-1'], isWhole: false },
  ],
  [
    'GET',
    `/containers/json?filters=${filters(['cellblock.worker-uid=20000'])}`,
    { kind: 'list', labels: ['cellblock.worker-uid=20000'], isWhole: true },
  ],
  ['POST', '/containers/create?name=x', { kind: 'create' }],
  ['POST', '/containers/sbx_1/start', { kind: 'start', container: 'sbx_1' }],
  ['POST', '/containers/sbx_1/wait?condition=removed', { kind: 'wait', container: 'sbx_1', condition: 'removed' }],
  ['DELETE', '/containers/sbx_1?force=true', { kind: 'remove', container: 'sbx_1' }],
])('the engine proxy reads %s %s', (method, target, call) => {
  expect(readCall(method, target)).toEqual(call)
})

it.each([
  ['GET', '/containers/json'],
  ['GET', `/containers/json?filters=${filters(['com.docker.compose.project'])}`],
  ['GET', `/containers/json?filters=${encodeURIComponent('{"label":["cellblock.stage"],"name":["x"]}')}`],
  ['POST', '/containers/sbx_1/exec'],
  ['POST', '/containers/sbx_1/kill'],
  ['POST', '/containers/sbx_1/wait?condition=next-exit'],
  ['GET', '/containers/sbx_1/archive?path=/'],
  ['GET', '/containers/sbx_1/logs'],
  ['GET', '/containers/sbx_1/json/../archive'],
  ['POST', '/containers/..%2f..%2f1/start'],
  ['POST', '/containers/prune'],
  ['PUT', '/containers/sbx_1/archive'],
  ['POST', '/images/create?fromImage=debian'],
  ['DELETE', '/images/cellblock-sandbox:dev'],
  ['POST', '/build'],
  ['GET', '/volumes'],
  ['POST', '//containers/create'],
  ['HEAD', '/_ping'],
])('the engine proxy knows no call %s %s', (method, target) => {
  expect(readCall(method, target)).toBeNull()
})

it('the engine proxy names the variable that is missing', () => {
  const env = { ENGINE_PROXY_SOCKET: '/s', CELLBLOCK_CONTROL_DIR: '/c', CELLBLOCK_IMAGES: 'slim=a:1,team=b:2' }
  expect(readProxyConfig(env)).toMatchObject({ engineSocket: '/var/run/docker.sock', images: ['a:1', 'b:2'], runtime: undefined })
  for (const name of Object.keys(env)) expect(() => readProxyConfig({ ...env, [name]: '' })).toThrow(name)
})
