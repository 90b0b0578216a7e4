import type { AnyRoute } from '../http/route.ts'
import { containerFileRoutes } from './openai/container-files/routes.ts'
import { containerRoutes } from './openai/containers/routes.ts'
import { chatCompletionRoutes } from './openai/chat-completions/routes.ts'
import { commandRoutes } from './native/commands/routes.ts'
import { conversationRoutes } from './openai/conversations/routes.ts'
import { e2bRoutes } from './e2b/routes.ts'
import { executionRoutes } from './native/executions/routes.ts'
import { fileRoutes } from './openai/files/routes.ts'
import { largeUploadRoutes } from './native/container-files/routes.ts'
import { folderRoutes } from './native/folders/routes.ts'
import { limitRoutes } from './native/limits/routes.ts'
import { linkRoutes } from './native/links/routes.ts'
import { librechatRoutes } from './librechat/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { metaRoutes } from '../http/health.ts'
import { modelRoutes } from './openai/models/routes.ts'
import { notebookRoutes } from './native/notebooks/routes.ts'
import { pluginRoutes } from './plugin/routes.ts'
import { responseRoutes } from './openai/responses/routes.ts'
import { skillRoutes } from './openai/skills/routes.ts'
import { uploadRoutes } from './openai/uploads/routes.ts'
import { webhookRoutes } from './openai/webhooks/routes.ts'
import { planRoutes } from './native/admin/plans.ts'
import { tenantDeletionRoutes } from './native/admin/delete-tenant.ts'
import { deadLetterRoutes } from './native/admin/dead-letters.ts'
import { exportRoutes } from './native/admin/export-tenant.ts'
import { keyRoutes } from './native/admin/keys.ts'
import { tenantRoutes } from './native/admin/tenants.ts'
import { tenantAuditRoutes } from './native/admin/audit.ts'
import { tenantUsageRoutes } from './native/admin/usage.ts'
import { usageRoutes } from './native/usage/routes.ts'

/** Every route, in the order of the documentation. */
export const ROUTES: readonly AnyRoute[] = [
  ...responseRoutes,
  ...chatCompletionRoutes,
  ...conversationRoutes,
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
  ...limitRoutes,
  ...usageRoutes,
  ...linkRoutes,
  ...webhookRoutes,
  ...mcpRoutes,
  ...librechatRoutes,
  ...e2bRoutes,
  ...pluginRoutes,
  ...tenantRoutes,
  ...tenantDeletionRoutes,
  ...exportRoutes,
  ...deadLetterRoutes,
  ...planRoutes,
  ...keyRoutes,
  ...tenantUsageRoutes,
  ...tenantAuditRoutes,
  ...metaRoutes,
]
