import type { ApiConfig } from '../http/config.ts'
import type { AnyRoute, WireDescription } from '../http/route.ts'
import type { WireHosts } from '../http/wire-hosts.ts'
import { containerFileRoutes } from './openai/container-files/routes.ts'
import { containerRoutes } from './openai/containers/routes.ts'
import { chatCompletionRoutes } from './openai/chat-completions/routes.ts'
import { commandRoutes } from './native/commands/routes.ts'
import { conversationRoutes } from './openai/conversations/routes.ts'
import { e2bHosts } from './e2b/hosts.ts'
import { e2bRoutes } from './e2b/routes.ts'
import { executionRoutes } from './native/executions/routes.ts'
import { fileRoutes } from './openai/files/routes.ts'
import { largeUploadRoutes } from './native/container-files/routes.ts'
import { folderRoutes } from './native/folders/routes.ts'
import { keyOfCallRoutes } from './native/key/routes.ts'
import { limitRoutes } from './native/limits/routes.ts'
import { linkRoutes } from './native/links/routes.ts'
import { libreChatWire, librechatRoutes } from './librechat/routes.ts'
import { mcpRoutes, mcpWire } from './mcp/routes.ts'
import { metaRoutes } from '../http/health.ts'
import { n8nRoutes } from './n8n/routes.ts'
import { modelRoutes } from './openai/models/routes.ts'
import { LOCAL_ROUTES } from './one-machine.ts'
import { notebookRoutes } from './native/notebooks/routes.ts'
import { pluginRoutes, pluginWire } from './plugin/routes.ts'
import { responseRoutes } from './openai/responses/routes.ts'
import { shareRoutes } from './native/shares/routes.ts'
import { skillRoutes } from './openai/skills/routes.ts'
import { uploadRoutes } from './openai/uploads/routes.ts'
import { webhookRoutes } from './openai/webhooks/routes.ts'
import { forkRoutes } from './native/copies/forks.ts'
import { snapshotRoutes } from './native/copies/snapshots.ts'
import { networkRoutes } from './native/network/routes.ts'
import { suspensionRoutes } from './native/suspension/routes.ts'
import { secretRoutes } from './native/network/secrets.ts'
import { portRoutes } from './native/ports/routes.ts'
import { planRoutes } from './native/admin/plans.ts'
import { tenantDeletionRoutes } from './native/admin/delete-tenant.ts'
import { deadLetterRoutes } from './native/admin/dead-letters.ts'
import { exportRoutes } from './native/admin/export-tenant.ts'
import { keyRoutes } from './native/admin/keys.ts'
import { tenantRoutes } from './native/admin/tenants.ts'
import { tenantAuditRoutes } from './native/admin/audit.ts'
import { tenantExecutionRoutes } from './native/admin/executions.ts'
import { refusedHostsRoutes } from './native/admin/refused-hosts.ts'
import { tenantUsageRoutes } from './native/admin/usage.ts'
import { usageRoutes } from './native/usage/routes.ts'

/** Protocols that other products or standards define, in the order of the documentation. */
export const WIRES: readonly WireDescription[] = [mcpWire, libreChatWire, pluginWire]

/** Host names that a wire serves from their root. */
export const wireHosts = (config: ApiConfig): readonly WireHosts[] => e2bHosts(config)

/** Every route, in the order of the documentation. */
export const ROUTES: readonly AnyRoute[] = [
  ...responseRoutes,
  ...chatCompletionRoutes,
  ...conversationRoutes,
  ...shareRoutes,
  ...containerRoutes,
  ...containerFileRoutes,
  ...largeUploadRoutes,
  ...folderRoutes,
  ...fileRoutes,
  ...uploadRoutes,
  ...skillRoutes,
  ...executionRoutes,
  ...commandRoutes,
  ...notebookRoutes,
  ...modelRoutes,
  ...keyOfCallRoutes,
  ...limitRoutes,
  ...usageRoutes,
  ...suspensionRoutes,
  ...forkRoutes,
  ...snapshotRoutes,
  ...networkRoutes,
  ...portRoutes,
  ...secretRoutes,
  ...linkRoutes,
  ...webhookRoutes,
  ...mcpRoutes,
  ...librechatRoutes,
  ...e2bRoutes,
  ...n8nRoutes,
  ...LOCAL_ROUTES,
  ...pluginRoutes,
  ...tenantRoutes,
  ...tenantDeletionRoutes,
  ...exportRoutes,
  ...deadLetterRoutes,
  ...planRoutes,
  ...keyRoutes,
  ...tenantUsageRoutes,
  ...tenantExecutionRoutes,
  ...refusedHostsRoutes,
  ...tenantAuditRoutes,
  ...metaRoutes,
]
