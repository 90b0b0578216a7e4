import { DriverError } from '../../../ports/sandbox-driver.ts'

/** HTTP status of the engine's answer, or null when it was not the engine that failed. */
export const engineStatus = (error: unknown): number | null =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null

const FULL = /no space left|cannot allocate memory|disk quota|too many open files|resource temporarily unavailable/i

/** Translates a failed call to the engine. */
export function toDriverError(error: unknown, image: string): DriverError {
  if (error instanceof DriverError) return error
  const message = (error instanceof Error ? error.message : String(error)).slice(0, 500)
  const status = engineStatus(error)
  if (status === null)
    return new DriverError(
      'unavailable',
      `The Docker engine does not answer (${message}). Start it, or set DOCKER_HOST to where it listens.`,
      { cause: error },
    )
  if (FULL.test(message))
    return new DriverError('capacity', `The Docker engine has no resources for another sandbox: ${message}`, { cause: error })
  if (status === 404)
    return new DriverError('configuration', `The sandbox image ${image} is missing. Build it with "npm run image".`, { cause: error })
  if (status === 400 || status === 403)
    return new DriverError('configuration', `The Docker engine refuses these settings: ${message}`, { cause: error })
  return new DriverError('unavailable', `The Docker engine failed: ${message}`, { cause: error })
}
