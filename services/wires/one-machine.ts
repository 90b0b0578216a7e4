import type { PortRule } from '../http/port-proxy/port-rule.ts'
import type { AnyRoute } from '../http/route.ts'
import type { WireSocket } from '../http/wire-socket.ts'
import { e2bPortRule } from './e2b/port-rule.ts'
import { openWebUiRoutes } from './open-webui/routes.ts'
import { shellSocket } from './open-webui/shell-socket.ts'
import { responsesSocket } from './openai/responses/responses-socket.ts'

/** What only a server on one machine has. Functions have no connection to upgrade; their bundle replaces LOCAL_ROUTES by an empty list. */

/** How wires open ports of their sandboxes. */
export const PORT_RULES: readonly PortRule[] = [e2bPortRule]

export const SOCKETS: readonly WireSocket[] = [responsesSocket, shellSocket]

/** Routes of wires for which the bundle of a function has no space. */
export const LOCAL_ROUTES: readonly AnyRoute[] = openWebUiRoutes
