import { expect, it } from 'vitest'
import { apiConfigFromEnv } from '../../../services/entries/aws/api/config.ts'
import { publicUrlOf } from '../../../services/http/public-url.ts'

const request = (headers: Record<string, string>): Request => new Request('http://internal.test:1/x', { headers })
const plain = { publicUrl: null, trustProxy: false, isHttpsOnly: false }

it('is the address in the Host header', () => {
  expect(publicUrlOf(request({ host: 'Example.com:8787' }), plain)).toBe('http://example.com:8787')
  expect(publicUrlOf(request({ host: '[::1]:80' }), plain)).toBe('http://[::1]:80')
  expect(publicUrlOf(request({}), plain)).toBe('http://internal.test:1')
})

it('uses proxy headers only when configured', () => {
  const headers = { host: 'inside', 'x-forwarded-host': 'outside.example', 'x-forwarded-proto': 'https' }
  expect(publicUrlOf(request(headers), plain)).toBe('http://inside')
  expect(publicUrlOf(request(headers), { ...plain, trustProxy: true })).toBe('https://outside.example')
})

it('is https behind a distribution, where the load balancer of the upload service says http', () => {
  const headers = { host: 'inside', 'x-forwarded-host': 'd1.cloudfront.example', 'x-forwarded-proto': 'http' }
  expect(publicUrlOf(request(headers), { ...plain, trustProxy: true, isHttpsOnly: true })).toBe('https://d1.cloudfront.example')
  const env = { AWS_REGION: 'eu-west-1', STAGE: 'prod', TABLE_NAME: 't', BUCKET_NAME: 'b', TRUST_PROXY: 'true' }
  const queues = {
    TURNS_QUEUE_URL: 'https://sqs.test/u',
    EXECUTIONS_QUEUE_URL: 'https://sqs.test/u',
    PLACEMENTS_QUEUE_URL: 'https://sqs.test/u',
  }
  expect(publicUrlOf(request(headers), apiConfigFromEnv({ ...env, ...queues }).api)).toBe('https://d1.cloudfront.example')
  expect(apiConfigFromEnv({ ...env, ...queues, INGRESS: 'load_balancer' }).api.isHttpsOnly).toBe(false)
})

it('is the configured URL, whatever the request contains', () => {
  expect(publicUrlOf(request({ host: 'evil' }), { ...plain, publicUrl: 'https://api.example', trustProxy: true })).toBe(
    'https://api.example',
  )
})

it.each(['a b', 'a/b', 'user@host', 'x"y', 'http://x', 'a..%2f', 'host:port', '-a', 'x?y'])('refuses %j', (host) => {
  expect(() => publicUrlOf(request({ host }), plain)).toThrow('Host header')
})
