import { ServiceError } from '../../core/errors.ts'
import type { ApiConfig } from '../config.ts'

const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** The address by which this client reached the API. Only checked host names get in: the address ends up in links. */
export function publicUrlOf(request: Request, config: Pick<ApiConfig, 'publicUrl' | 'trustProxy'>): string {
  if (config.publicUrl !== null) return config.publicUrl
  const forwarded = config.trustProxy ? request.headers.get('x-forwarded-host') : null
  const host = forwarded ?? request.headers.get('host') ?? hostOf(request.url)
  if (!HOST.test(host))
    throw new ServiceError('invalid_request', 'The Host header is not a valid host name. Send the address that you connected to.')
  const scheme = config.trustProxy && request.headers.get('x-forwarded-proto') === 'https' ? 'https' : 'http'
  return `${scheme}://${host.toLowerCase()}`
}

const hostOf = (url: string): string => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ''
