import * as z from 'zod'
import { privateHostList } from '../../../adapters/gateway/private-host-list.ts'
import { parseOnce } from '../../../model/parse-once.ts'
import { FUNCTION_ENV } from '../function-env.ts'

/** The variables of the task of the network gateway. */
export const GatewayEnv = z.object({
  ...FUNCTION_ENV,
  /** The secret with its keys, which it makes at its first start. */
  NETWORK_KEYS_ARN: z.string().min(1),
  /** Hosts that it reaches at private addresses, for emulated accounts: `name=address:port`. */
  PRIVATE_HOSTS: privateHostList.default({}),
})
export type GatewayEnv = z.input<typeof GatewayEnv>

/** Throws a ZodError that names the variable at fault. */
export const gatewayConfigFromEnv = (env: Readonly<Record<string, string | undefined>> = process.env): z.output<typeof GatewayEnv> =>
  parseOnce(GatewayEnv, env)
