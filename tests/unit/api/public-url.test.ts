import { expect, it } from 'vitest'
import { publicUrlOf } from '../../../services/http/public-url.ts'

const request = (headers: Record<string, string>): Request => new Request('http://internal.test:1/x', { headers })
const plain = { publicUrl: null, trustProxy: false }

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

it('is the configured URL, whatever the request contains', () => {
  expect(publicUrlOf(request({ host: 'evil' }), { publicUrl: 'https://api.example', trustProxy: true })).toBe('https://api.example')
})

it.each(['a b', 'a/b', 'user@host', 'x"y', 'http://x', 'a..%2f', 'host:port', '-a', 'x?y'])('refuses %j', (host) => {
  expect(() => publicUrlOf(request({ host }), plain)).toThrow('Host header')
})
