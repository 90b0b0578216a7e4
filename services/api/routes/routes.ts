import type { AnyRoute } from '../http/route.ts'
import { healthRoute, readinessRoute } from './meta/health.ts'
import { cancelExecutionRoute } from './native/cancel-execution.ts'
import { completeUploadRoute } from './native/complete-upload.ts'
import { containerNotebookRoute } from './native/container-notebook.ts'
import { createUploadUrlRoute } from './native/create-upload-url.ts'
import { executionEventsRoute } from './native/execution-events.ts'
import { executionNotebookRoute } from './native/execution-notebook.ts'
import { listFileLinksRoute, revokeFileLinksRoute } from './native/file-links.ts'
import { getExecutionRoute } from './native/get-execution.ts'
import { limitsRoute } from './native/limits.ts'
import { followLinkRoute, revokeLinkRoute } from './native/links.ts'
import { listExecutionsRoute } from './native/list-executions.ts'
import { runCodeRoute } from './native/run-code.ts'
import { usageRoute } from './native/usage.ts'
import { conversationNotebookRoute, responseNotebookRoute } from './native/history-notebooks.ts'
import { cancelResponseRoute } from './openai/cancel-response.ts'
import { containerFileContentRoute } from './openai/container-file-content.ts'
import {
  createConversationItemsRoute,
  deleteConversationItemRoute,
  getConversationItemRoute,
  listConversationItemsRoute,
} from './openai/conversation-items.ts'
import { createConversationRoute, deleteConversationRoute, getConversationRoute, updateConversationRoute } from './openai/conversations.ts'
import { createContainerRoute } from './openai/create-container.ts'
import { createFileRoute } from './openai/create-file.ts'
import { createResponseRoute } from './openai/create-response.ts'
import { deleteContainerFileRoute } from './openai/delete-container-file.ts'
import { deleteContainerRoute } from './openai/delete-container.ts'
import { deleteFileRoute } from './openai/delete-file.ts'
import { deleteResponseRoute } from './openai/delete-response.ts'
import { fileContentRoute } from './openai/file-content.ts'
import { getContainerFileRoute } from './openai/get-container-file.ts'
import { getContainerRoute } from './openai/get-container.ts'
import { getFileRoute } from './openai/get-file.ts'
import { getResponseRoute } from './openai/get-response.ts'
import { listContainerFilesRoute } from './openai/list-container-files.ts'
import { listContainersRoute } from './openai/list-containers.ts'
import { listFilesRoute } from './openai/list-files.ts'
import { getModelRoute, listModelsRoute } from './openai/models.ts'
import { compactResponseRoute, countInputTokensRoute } from './openai/not-served.ts'
import { responseInputItemsRoute } from './openai/response-input-items.ts'
import { uploadContainerFileRoute } from './openai/upload-container-file.ts'
import { addUploadPartRoute, cancelUploadRoute, completeFileUploadRoute, createUploadRoute } from './openai/uploads.ts'
import { executeRoute, pluginDocumentRoute, pluginLogoRoute, pluginManifestRoute } from './plugin/plugin.ts'

/** Every route, in the order of the documentation. A fixed segment stands before a parameter in the same place. */
export const ROUTES: readonly AnyRoute[] = [
  createResponseRoute,
  getResponseRoute,
  cancelResponseRoute,
  deleteResponseRoute,
  responseInputItemsRoute,
  responseNotebookRoute,
  compactResponseRoute,
  countInputTokensRoute,
  createConversationRoute,
  getConversationRoute,
  updateConversationRoute,
  deleteConversationRoute,
  createConversationItemsRoute,
  listConversationItemsRoute,
  getConversationItemRoute,
  deleteConversationItemRoute,
  conversationNotebookRoute,
  createContainerRoute,
  listContainersRoute,
  getContainerRoute,
  deleteContainerRoute,
  containerNotebookRoute,
  createUploadUrlRoute,
  uploadContainerFileRoute,
  listContainerFilesRoute,
  getContainerFileRoute,
  deleteContainerFileRoute,
  containerFileContentRoute,
  completeUploadRoute,
  createFileRoute,
  listFilesRoute,
  getFileRoute,
  deleteFileRoute,
  fileContentRoute,
  createUploadRoute,
  addUploadPartRoute,
  completeFileUploadRoute,
  cancelUploadRoute,
  runCodeRoute,
  listExecutionsRoute,
  getExecutionRoute,
  cancelExecutionRoute,
  executionEventsRoute,
  executionNotebookRoute,
  listModelsRoute,
  getModelRoute,
  limitsRoute,
  usageRoute,
  followLinkRoute,
  listFileLinksRoute,
  revokeFileLinksRoute,
  revokeLinkRoute,
  executeRoute,
  pluginManifestRoute,
  pluginDocumentRoute,
  pluginLogoRoute,
  healthRoute,
  readinessRoute,
]
