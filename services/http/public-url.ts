import { ServiceError } from '../model/errors.ts'
import type { ApiConfig } from './config.ts'

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** The host that the client asked for. Throws ServiceError `invalid_request` for one that is not a host name. */
export function hostOf(request: Request, config: Pick<ApiConfig, 'trustProxy'>): string {
  const forwarded = config.trustProxy ? request.headers.get('x-forwarded-host') : null
  const host = forwarded ?? request.headers.get('host') ?? hostOfUrl(request.url)
  if (!HOST.test(host))
    throw new ServiceError('invalid_request', 'The Host header is not a valid host name. Send the address that you connected to.')
  return host
}

/** `Example.com:8787` without its port, in lower case. */
export const hostNameOf = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, '')

/** The address by which this client reached the API, without a trailing slash. Links contain it, so `trustedHosts` has checked the host. */
export function publicUrlOf(request: Request, config: Pick<ApiConfig, 'publicUrl' | 'trustProxy' | 'isHttpsOnly'>): string {
  if (config.publicUrl !== null) return config.publicUrl
  const saysHttps = config.trustProxy && request.headers.get('x-forwarded-proto') === 'https'
  const scheme = config.isHttpsOnly || saysHttps ? 'https' : 'http'
  return `${scheme}://${hostOf(request, config).toLowerCase()}`
}

const hostOfUrl = (url: string): string => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ''
