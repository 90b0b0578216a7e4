import { ENGINE_MUTANTS } from './engine-mutants.ts'
import type { Mutant } from './mutant.ts'
import { NETWORK_MUTANTS } from './network-mutants.ts'
import { PORT_MUTANTS } from './port-mutants.ts'
import { SANDBOX_MUTANTS } from './sandbox-mutants.ts'
import { SERVICE_MUTANTS } from './service-mutants.ts'
import { SHARE_MUTANTS } from './share-mutants.ts'

export const MUTANTS: readonly Mutant[] = [
  ...ENGINE_MUTANTS,
  ...NETWORK_MUTANTS,
  ...PORT_MUTANTS,
  ...SANDBOX_MUTANTS,
  ...SERVICE_MUTANTS,
  ...SHARE_MUTANTS,
]
