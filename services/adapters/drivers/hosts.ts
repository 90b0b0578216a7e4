import { createDockerHost } from './docker/host.ts'
import type { DriverHost } from './driver-profile.ts'
import type { LOCAL_DRIVERS } from './registry.ts'

/** The part of the registry that a server on one machine calls. It is separate, because the engines' clients would add to the bundle of every function. */
export const HOSTS: Readonly<Record<(typeof LOCAL_DRIVERS)[number], () => DriverHost>> = {
  docker: createDockerHost,
}
