// Generated from the OpenAPI document by scripts/generate-client.ts. Do not edit.

export type ApiKey = { "id": string; "object": "api_key"; "tenant_id": string; "name": string | null; "subject": string | null; "scopes": "run" | "read" | "files" | "admin"[]; "created_at": string; "expires_at": string | null; "last_used_at": string | null; "revoked_at": string | null }

export type ApiKeyList = { "object": "list"; "data": ApiKey[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type AuditEntry = { "object": "audit_entry"; "at": string; "key_id": string; "subject": string | null; "action": string; "status": number; "request_id": string; "targets": { [name: string]: string } }

export type AuditEntryList = { "object": "list"; "data": AuditEntry[] }

export type ByteRange = { "object": "container.entry.range"; "path": string; "offset": number; "data": string; "bytes": number }

export type ChatCompletion = { "id": string; "object": "chat.completion"; "created": number; "model": string; "choices": { "index": 0; "message": { "role": "assistant"; "content": string | null; "refusal": string | null }; "finish_reason": "stop" | "length" | "tool_calls" | "content_filter"; "logprobs": null }[]; "usage": { "prompt_tokens": number; "completion_tokens": number; "total_tokens": number }; "service_tier": string; "x_cellblock": { "container_id": string | null; "files": { "id": string; "path": string; "url": string }[]; "dropped_parameters": string[] } }

export type Command = { "id": string; "object": "command"; "container_id": string; "v": 1; "status": "queued" | "starting" | "running" | "succeeded" | "failed" | "timed_out" | "cancelled"; "reason": "error" | "oom" | "kernel_died" | "output_limit" | "disk_full" | "sandbox_lost" | "dead_letter" | "deadline" | "cpu_limit" | "caller" | null; "created_at": string; "started_at": string | null; "ended_at": string | null; "argv": string[]; "cwd": string | null; "background": boolean; "pty": { "cols": number; "rows": number } | null; "exit_code": number | null; "signal": string | null; "stdout": string; "stderr": string; "files": ExecutionFile[]; "lost": { "what": string; "reason": string }[]; "omitted"?: { "what": string; "bytes": number; "url": string }[]; "usage": { "queue_ms": number; "start_ms": number; "run_ms": number; "cpu_ms": number; "peak_memory_bytes": number; "output_bytes": number; "sandbox_seconds": number; "cost_usd": number } | null; "metadata": { [name: string]: string } }

export type CommandList = { "object": "list"; "data": Command[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type CommandResize = { "cols": number; "rows": number }

export type CommandSignal = { "signal": string }

export type CommandStdin = { "data"?: string | null; "close"?: true }

export type CompactResponse = { "model": string; "instructions"?: string | null; "previous_response_id"?: string | null; "input"?: (string | { "type"?: string; "role"?: "user" | "assistant" | "system" | "developer"; "content"?: (string | { "type": string }[] | null) }[] | null) }

export type CompactedResponse = { "id": string; "object": "response.compaction"; "created_at": number; "output": { "id": string; "type": "message" | "compaction" }[]; "usage": { "input_tokens": number; "output_tokens": number; "total_tokens": number }; "x_cellblock": { "context": { [name: string]: (number | boolean) } | null } }

export type CompleteUpload = { "part_ids": string[]; "md5"?: string | null }

export type Container = { "id": string; "object": "container"; "created_at": number; "name": string; "status": "running" | "expired"; "last_active_at": number; "expires_after": { "anchor": "last_active_at"; "minutes": number }; "memory_limit": "1g" | "4g" | "16g" | "64g"; "image": string; "limits"?: { [name: string]: number }; "network_policy": { "type": "disabled" }; "skills"?: { "name": string; "description": string; "path": string }[] }

export type ContainerEntry = { "object": "container.entry"; "path": string; "name": string; "type": "file" | "folder" | "link" | "other"; "bytes": number; "modified_at": string; "mode": string; "target": string | null }

export type ContainerEntryList = { "object": "list"; "data": ContainerEntry[]; "has_more": boolean }

export type ContainerFile = { "id": string; "object": "container.file"; "container_id": string; "created_at": number; "bytes": number; "path": string; "source": "user" | "assistant"; "sha256": string | null; "mime": string }

export type ContainerFileList = { "object": "list"; "data": ContainerFile[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type ContainerLimits = { "cpu_seconds"?: number; "output_bytes"?: number; "displays"?: number; "files_per_execution"?: number; "processes"?: number; "open_files"?: number; "file_bytes"?: number; "disk_bytes"?: number; "inodes"?: number } | null

export type ContainerList = { "object": "list"; "data": Container[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type Conversation = { "id": string; "object": "conversation"; "created_at": number; "metadata": { [name: string]: string }; "x_cellblock": { "title": string | null; "archived": boolean; "updated_at": number; "container_id": string | null; "running": string[]; "unfinished": string[] } }

export type ConversationItem = { "id": string; "type": string }

export type ConversationItemList = { "object": "list"; "data": ConversationItem[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type ConversationList = { "object": "list"; "data": Conversation[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type CountInputTokens = { "model"?: string | null; "input"?: (string | { "type"?: string; "role"?: "user" | "assistant" | "system" | "developer"; "content"?: (string | { "type": string }[] | null) }[] | null); "instructions"?: string | null; "tools"?: { "type": string }[] | null; "tool_choice"?: ("auto" | "none" | "required" | { "type": string } | null); "include"?: string[] | null; "stream"?: boolean | null; "store"?: boolean | null; "background"?: boolean | null; "previous_response_id"?: string | null; "conversation"?: (string | { "id": string } | null); "metadata"?: { [name: string]: string } | null; "max_output_tokens"?: number | null; "max_tool_calls"?: number | null; "parallel_tool_calls"?: boolean | null; "temperature"?: number | null; "top_p"?: number | null; "user"?: string | null; "reasoning"?: { [name: string]: unknown } | null; "text"?: { "format"?: { "type": string } | null; "verbosity"?: string | null } | null; "safety_identifier"?: string | null; "prompt_cache_key"?: string | null; "prompt_cache_retention"?: string | null; "truncation"?: "auto" | "disabled" | null; "service_tier"?: string | null; "top_logprobs"?: number | null; "generate"?: boolean | null; "prompt"?: null }

export type CreateChatCompletion = { "model": string; "messages": { "role": "system" | "developer" | "user" | "assistant" | "tool"; "content"?: (string | { "type": string }[] | null); "refusal"?: string | null; "tool_calls"?: { "id": string; "type"?: string; "function": { "name": string; "arguments": string } }[] | null; "tool_call_id"?: string | null }[]; "tools"?: { "type": string; "function"?: { "name": string } }[] | null; "tool_choice"?: ("auto" | "none" | "required" | { "type": string } | null); "parallel_tool_calls"?: boolean | null; "stream"?: boolean | null; "stream_options"?: { "include_usage"?: boolean | null } | null; "response_format"?: { "type": string; "json_schema"?: { [name: string]: unknown } | null } | null; "reasoning_effort"?: string | null; "verbosity"?: string | null; "temperature"?: number | null; "top_p"?: number | null; "max_tokens"?: number | null; "max_completion_tokens"?: number | null; "n"?: number | null; "stop"?: (string | string[] | null); "seed"?: number | null; "frequency_penalty"?: number | null; "presence_penalty"?: number | null; "logit_bias"?: { [name: string]: number } | null; "logprobs"?: boolean | null; "top_logprobs"?: number | null; "modalities"?: "text"[] | null; "audio"?: null; "functions"?: null; "function_call"?: null; "store"?: boolean | null; "metadata"?: { [name: string]: string } | null; "user"?: string | null; "safety_identifier"?: string | null; "prompt_cache_key"?: string | null; "prompt_cache_retention"?: string | null; "service_tier"?: string | null }

export type CreateContainer = { "name": string; "expires_after"?: { "anchor": "last_active_at"; "minutes": number } | null; "file_ids"?: string[] | null; "memory_limit"?: "1g" | "4g" | "16g" | "64g" | null; "limits"?: ContainerLimits; "image"?: string | null; "network_policy"?: { "type": "disabled" | "allowlist" } | null; "skills"?: (SkillReference | InlineSkill)[] | null }

export type CreateConversation = { "items"?: { "type"?: string; "role"?: "user" | "assistant" | "system" | "developer"; "content"?: (string | { "type": string }[] | null) }[] | null; "metadata"?: { [name: string]: string } | null; "x_cellblock"?: { "title"?: string; "container_id"?: string } }

export type CreateConversationItems = { "items": { "type"?: string; "role"?: "user" | "assistant" | "system" | "developer"; "content"?: (string | { "type": string }[] | null) }[] }

export type CreateResponse = { "model": string; "input": (string | { "type"?: string; "role"?: "user" | "assistant" | "system" | "developer"; "content"?: (string | { "type": string }[] | null) }[]); "instructions"?: string | null; "tools"?: { "type": string }[] | null; "tool_choice"?: ("auto" | "none" | "required" | { "type": string } | null); "include"?: string[] | null; "stream"?: boolean | null; "store"?: boolean | null; "background"?: boolean | null; "previous_response_id"?: string | null; "conversation"?: (string | { "id": string } | null); "metadata"?: { [name: string]: string } | null; "max_output_tokens"?: number | null; "max_tool_calls"?: number | null; "parallel_tool_calls"?: boolean | null; "temperature"?: number | null; "top_p"?: number | null; "user"?: string | null; "reasoning"?: { [name: string]: unknown } | null; "text"?: { "format"?: { "type": string } | null; "verbosity"?: string | null } | null; "safety_identifier"?: string | null; "prompt_cache_key"?: string | null; "prompt_cache_retention"?: string | null; "truncation"?: "auto" | "disabled" | null; "service_tier"?: string | null; "top_logprobs"?: number | null; "generate"?: boolean | null; "prompt"?: null }

export type CreateUpload = { "filename": string; "bytes": number; "mime_type": string; "purpose": "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals"; "expires_after"?: { "anchor": "created_at"; "seconds": number } | null }

export type DeadLetter = { "id": string; "object": "dead_letter"; "container_id": string; "ended_at": string; "may_have_run": boolean; "trace_id": string | null }

export type DeadLetterList = { "object": "list"; "data": DeadLetter[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type DeletedSkillVersion = { "id": string; "object": "skill.version.deleted"; "deleted": true; "version": string }

export type EntryPreview = { "object": "container.entry.preview"; "entry": ContainerEntry; "kind": "table" | "image" | "text" | "binary"; "preview": { [name: string]: unknown } }

export type Execution = { "id": string; "object": "execution"; "container_id": string; "v": 1; "status": "queued" | "starting" | "running" | "succeeded" | "failed" | "timed_out" | "cancelled"; "reason": "error" | "oom" | "kernel_died" | "output_limit" | "disk_full" | "sandbox_lost" | "dead_letter" | "deadline" | "cpu_limit" | "caller" | null; "created_at": string; "started_at": string | null; "ended_at": string | null; "language": "python" | "bash" | "javascript" | "typescript" | "r"; "queue_position"?: number; "expected_start_at"?: string; "outputs"?: Output[]; "cells"?: { "index": number; "execution_count": number | null; "status": "ok" | "error" | "aborted"; "outputs": Output[] }[]; "stdout": string; "stderr": string; "error": { "name": string; "value": string; "traceback": string[] } | null; "files": ExecutionFile[]; "lost": { "what": string; "reason": string }[]; "omitted"?: { "what": string; "bytes": number; "url": string }[]; "usage": { "queue_ms": number; "start_ms": number; "run_ms": number; "cpu_ms": number; "peak_memory_bytes": number; "output_bytes": number; "sandbox_seconds": number; "cost_usd": number } | null; "metadata": { [name: string]: string } }

export type ExecutionFile = { "id": string; "path": string; "bytes": number; "sha256": string; "mime": string; "url": string | null; "is_new": boolean; "modified_from"?: string }

export type ExecutionList = { "object": "list"; "data": Execution[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type InlineSkill = { "type": "inline"; "name": string; "description": string; "source": { "type": "base64"; "media_type": "application/zip"; "data": string } }

export type InputItemList = { "object": "list"; "data": { "id": string; "type": string }[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type InputTokens = { "object": "response.input_tokens"; "input_tokens": number }

export type Limits = { "object": "limits"; "limits": { [name: string]: { "value": number; "unit": string; "used": number | null } }; "memory_limits": { "memory_limit": "1g" | "4g" | "16g" | "64g"; "memory_bytes": number }[]; "images": string[]; "recovery_ms": number }

export type LimitsPatch = { "timeout_seconds"?: number | null; "requests_per_second"?: number | null; "concurrent_executions"?: number | null; "open_streams"?: number | null; "sandbox_seconds_per_day"?: number | null; "dollars_per_day"?: number | null; "model_tokens_per_day"?: number | null; "live_containers"?: number | null; "queued_jobs"?: number | null; "storage_bytes"?: number | null; "container_days"?: number | null; "execution_days"?: number | null; "response_days"?: number | null; "conversation_days"?: number | null; "file_days"?: number | null; "skill_days"?: number | null; "cpu_seconds"?: number | null; "output_bytes"?: number | null; "displays"?: number | null; "files_per_execution"?: number | null; "processes"?: number | null; "open_files"?: number | null; "file_bytes"?: number | null; "disk_bytes"?: number | null; "inodes"?: number | null; "memory_limit"?: "1g" | "4g" | "16g" | "64g" | null }

export type Link = { "id": string; "object": "link"; "file_id": string | null; "filename": string; "created_at": string; "expires_at": string; "revoked_at": string | null }

export type LinkList = { "object": "list"; "data": Link[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type MakeFolder = { "path": string }

export type Model = { "id": string; "object": "model"; "created": number; "owned_by": string }

export type MoveEntry = { "from": string; "to": string; "overwrite"?: boolean | null }

export type NewApiKey = { "id": string; "object": "api_key"; "tenant_id": string; "name": string | null; "subject": string | null; "scopes": "run" | "read" | "files" | "admin"[]; "created_at": string; "expires_at": string | null; "last_used_at": string | null; "revoked_at": string | null; "api_key": string }

export type Output = { "output_type": "stream" | "display_data" | "execute_result" | "error" }

export type Plan = { "id": string; "object": "plan"; "created_at": string; "limits": { [name: string]: (number | string) } }

export type PlanList = { "object": "list"; "data": Plan[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type RedrivenJob = { "id": string; "object": "execution" | "response"; "redriven_from": string }

export type RemovedEntry = { "object": "container.entry.deleted"; "path": string; "removed": number }

export type Response = { "id": string; "object": "response"; "created_at": number; "completed_at": number | null; "status": "queued" | "in_progress" | "completed" | "failed" | "incomplete" | "cancelled"; "background": boolean; "model": string; "output": { "id": string; "type": "message" | "code_interpreter_call" | "function_call" | "web_search_call" | "shell_call" | "shell_call_output" | "apply_patch_call" }[]; "error": { "code": string; "message": string } | null; "incomplete_details": { "reason": string } | null; "previous_response_id": string | null; "conversation": { "id": string } | null; "usage": { "input_tokens": number; "output_tokens": number; "total_tokens": number } | null; "metadata": { [name: string]: string }; "x_cellblock": { "container_id": string | null; "context": { [name: string]: (number | boolean) } | null; "dropped_parameters": string[] } }

export type RevokedLinks = { "object": "link.list.deleted"; "deleted": true; "revoked": number }

export type RunCode = { "code"?: string | null; "notebook"?: { [name: string]: unknown } | null; "language"?: "python" | "bash" | "javascript" | "typescript" | "r" | null; "env"?: { [name: string]: string }; "cwd"?: string | null; "timeout_seconds"?: number | null; "metadata"?: { [name: string]: string } | null; "on_error"?: "stop" | "continue" | null; "store_history"?: boolean | null }

export type RunCommand = { "argv"?: string[]; "command"?: string | null; "env"?: { [name: string]: string }; "cwd"?: string | null; "stdin"?: string | null; "pty"?: { "cols": number; "rows": number } | null; "timeout_seconds"?: number | null; "metadata"?: { [name: string]: string } | null; "background"?: boolean | null }

export type Skill = { "id": string; "object": "skill"; "name": string; "description": string; "created_at": number; "default_version": string; "latest_version": string }

export type SkillList = { "object": "list"; "data": Skill[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type SkillReference = { "type": "skill_reference"; "skill_id": string; "version"?: string | null }

export type SkillVersion = { "id": string; "object": "skill.version"; "skill_id": string; "name": string; "description": string; "created_at": number; "version": string }

export type SkillVersionList = { "object": "list"; "data": SkillVersion[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type Tenant = { "id": string; "object": "tenant"; "name": string; "created_at": string; "plan": string | null; "limits": { [name: string]: (number | string) }; "tools_off": string[]; "link_days": number | null; "image": string | null; "deletion": { "requested_at": string; "completed_at": string | null; "removed_rows": number; "removed_objects": number; "remains": string[] } | null }

export type TenantLimits = { "object": "tenant_limits"; "limits": { [name: string]: { "value": (number | string); "unit": "seconds" | "days" | "bytes" | "count" | "tier"; "set_by": "tenant" | "plan" | "default" } } }

export type TenantList = { "object": "list"; "data": Tenant[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type UnpackArchive = { "path": string; "into"?: string | null; "remove_archive"?: boolean | null }

export type UnpackedArchive = { "object": "container.archive.unpacked"; "files": number; "paths": string[] }

export type UpdateConversation = { "metadata"?: { [name: string]: string } | null; "x_cellblock"?: { "title"?: string | null; "archived"?: boolean; "container_id"?: string | null } }

export type UpdateSkill = { "default_version": string }

export type Upload = { "id": string; "object": "upload"; "bytes": number; "created_at": number; "expires_at": number; "filename": string; "purpose": "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals"; "status": "pending" | "completed" | "cancelled" | "expired"; "file": (UserFile | null) }

export type UploadPart = { "id": string; "object": "upload.part"; "created_at": number; "upload_id": string }

export type UploadUrl = { "id": string; "object": "container.file.upload"; "url": string; "headers": { [name: string]: string }; "expires_at": string }

export type UploadUrlRequest = { "path": string; "bytes": number; "sha256"?: string | null }

export type Usage = { "object": "usage"; "from": string; "to": string; "days": { "executions": number; "sandbox_seconds": number; "cpu_seconds": number; "peak_memory_bytes": number; "output_bytes": number; "cost_usd": number; "model_input_tokens": number; "model_output_tokens": number; "date": string }[]; "total": { "executions": number; "sandbox_seconds": number; "cpu_seconds": number; "peak_memory_bytes": number; "output_bytes": number; "cost_usd": number; "model_input_tokens": number; "model_output_tokens": number }; "prices_as_of": string; "prices_region": string }

export type UserFile = { "id": string; "object": "file"; "bytes": number; "created_at": number; "expires_at": number | null; "filename": string; "purpose": "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals"; "status": "processed"; "status_details": null; "sha256": string }

export type UserFileList = { "object": "list"; "data": UserFile[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type WebhookDelivery = { "id": string; "object": "webhook_delivery"; "event_id": string; "event_type": "response.completed" | "response.failed" | "response.cancelled" | "response.incomplete" | "execution.succeeded" | "execution.failed" | "execution.timed_out" | "execution.cancelled" | "container.expired"; "data": { [name: string]: string | null }; "status": "pending" | "delivered" | "dead"; "attempts": number; "last_status_code": number | null; "last_error": string | null; "created_at": number; "next_attempt_at": number | null; "ended_at": number | null }

export type WebhookDeliveryList = { "object": "list"; "data": WebhookDelivery[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type WebhookEndpoint = { "id": string; "object": "webhook_endpoint"; "created_at": number; "updated_at": number; "name": string; "url": string; "event_types": "response.completed" | "response.failed" | "response.cancelled" | "response.incomplete" | "execution.succeeded" | "execution.failed" | "execution.timed_out" | "execution.cancelled" | "container.expired"[]; "signing_secret_hint": string | null }

export type WebhookEndpointList = { "object": "list"; "data": WebhookEndpoint[]; "first_id": string | null; "last_id": string | null; "has_more": boolean }

export type WebhookEndpointWithSecret = { "id": string; "object": "webhook_endpoint"; "created_at": number; "updated_at": number; "name": string; "url": string; "event_types": "response.completed" | "response.failed" | "response.cancelled" | "response.incomplete" | "execution.succeeded" | "execution.failed" | "execution.timed_out" | "execution.cancelled" | "container.expired"[]; "signing_secret_hint": string | null; "signing_secret": string }

export type WebhookEventTypes = { "object": "list"; "data": "response.completed" | "response.failed" | "response.cancelled" | "response.incomplete" | "execution.succeeded" | "execution.failed" | "execution.timed_out" | "execution.cancelled" | "container.expired"[] }

export type WebhookTestResult = { "object": "webhook_endpoint.test"; "webhook_endpoint_id": string; "event_type": "response.completed" | "response.failed" | "response.cancelled" | "response.incomplete" | "execution.succeeded" | "execution.failed" | "execution.timed_out" | "execution.cancelled" | "container.expired"; "success": true; "status_code": number }

/** Every operation, by its method and path. */
export interface Operations {
  "POST /v1/responses/{response_id}/cancel": { params: { "response_id": string }; query: undefined; body: undefined; answer: Response }
  "POST /v1/responses": { params: undefined; query: undefined; body: CreateResponse; answer: Response }
  "GET /v1/responses": { params: undefined; query: undefined; body: undefined; answer: { [name: string]: unknown } }
  "DELETE /v1/responses/{response_id}": { params: { "response_id": string }; query: undefined; body: undefined; answer: { "id": string; "object": "response"; "deleted": true } }
  "GET /v1/responses/{response_id}": { params: { "response_id": string }; query: { "include"?: string[]; "stream"?: "true" | "false"; "starting_after"?: number }; body: undefined; answer: Response }
  "POST /v1/responses/compact": { params: undefined; query: undefined; body: CompactResponse; answer: CompactedResponse }
  "POST /v1/responses/input_tokens": { params: undefined; query: undefined; body: CountInputTokens; answer: InputTokens }
  "GET /v1/responses/{response_id}/input_items": { params: { "response_id": string }; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: InputItemList }
  "POST /v1/chat/completions": { params: undefined; query: undefined; body: CreateChatCompletion; answer: ChatCompletion }
  "GET /v1/conversations": { params: undefined; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "q"?: string; "titled"?: "true" | "false"; "archived"?: "true" | "false" }; body: undefined; answer: ConversationList }
  "POST /v1/conversations": { params: undefined; query: undefined; body: CreateConversation; answer: Conversation }
  "POST /v1/conversations/{conversation_id}/items": { params: { "conversation_id": string }; query: { "include"?: string[] }; body: CreateConversationItems; answer: ConversationItemList }
  "GET /v1/conversations/{conversation_id}/items": { params: { "conversation_id": string }; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "include"?: string[] }; body: undefined; answer: ConversationItemList }
  "DELETE /v1/conversations/{conversation_id}/items/{item_id}": { params: { "conversation_id": string; "item_id": string }; query: undefined; body: undefined; answer: Conversation }
  "GET /v1/conversations/{conversation_id}/items/{item_id}": { params: { "conversation_id": string; "item_id": string }; query: { "include"?: string[] }; body: undefined; answer: ConversationItem }
  "DELETE /v1/conversations/{conversation_id}": { params: { "conversation_id": string }; query: undefined; body: undefined; answer: { "id": string; "object": "conversation.deleted"; "deleted": true } }
  "GET /v1/conversations/{conversation_id}": { params: { "conversation_id": string }; query: undefined; body: undefined; answer: Conversation }
  "POST /v1/conversations/{conversation_id}": { params: { "conversation_id": string }; query: undefined; body: UpdateConversation; answer: Conversation }
  "POST /v1/containers": { params: undefined; query: undefined; body: CreateContainer; answer: Container }
  "GET /v1/containers": { params: undefined; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "name"?: string }; body: undefined; answer: ContainerList }
  "GET /v1/containers/{container_id}": { params: { "container_id": string }; query: undefined; body: undefined; answer: Container }
  "DELETE /v1/containers/{container_id}": { params: { "container_id": string }; query: undefined; body: undefined; answer: { "id": string; "object": "container.deleted"; "deleted": true } }
  "GET /v1/containers/{container_id}/files/{file_id}/content": { params: { "container_id": string; "file_id": string }; query: undefined; body: undefined; answer: unknown }
  "DELETE /v1/containers/{container_id}/files/{file_id}": { params: { "container_id": string; "file_id": string }; query: undefined; body: undefined; answer: { "id": string; "object": "container.file.deleted"; "deleted": true } }
  "GET /v1/containers/{container_id}/files/{file_id}": { params: { "container_id": string; "file_id": string }; query: undefined; body: undefined; answer: ContainerFile }
  "GET /v1/containers/{container_id}/files": { params: { "container_id": string }; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: ContainerFileList }
  "POST /v1/containers/{container_id}/files": { params: { "container_id": string }; query: undefined; body: FormData; answer: ContainerFile }
  "POST /v1/containers/{container_id}/files/upload_url": { params: { "container_id": string }; query: undefined; body: UploadUrlRequest; answer: UploadUrl }
  "POST /v1/containers/{container_id}/files/{file_id}/complete": { params: { "container_id": string; "file_id": string }; query: undefined; body: undefined; answer: ContainerFile }
  "GET /v1/containers/{container_id}/entries": { params: { "container_id": string }; query: { "path": string; "depth"?: number; "limit"?: number }; body: undefined; answer: ContainerEntryList }
  "POST /v1/containers/{container_id}/entries": { params: { "container_id": string }; query: undefined; body: MakeFolder; answer: ContainerEntry }
  "DELETE /v1/containers/{container_id}/entries": { params: { "container_id": string }; query: { "path": string; "recursive"?: boolean }; body: undefined; answer: RemovedEntry }
  "GET /v1/containers/{container_id}/entries/info": { params: { "container_id": string }; query: { "path": string }; body: undefined; answer: ContainerEntry }
  "POST /v1/containers/{container_id}/entries/move": { params: { "container_id": string }; query: undefined; body: MoveEntry; answer: ContainerEntry }
  "GET /v1/containers/{container_id}/entries/range": { params: { "container_id": string }; query: { "path": string; "offset"?: number; "length"?: number }; body: undefined; answer: ByteRange }
  "GET /v1/containers/{container_id}/entries/preview": { params: { "container_id": string }; query: { "path": string; "rows"?: number; "pixels"?: number }; body: undefined; answer: EntryPreview }
  "POST /v1/containers/{container_id}/entries/unpack": { params: { "container_id": string }; query: undefined; body: UnpackArchive; answer: UnpackedArchive }
  "POST /v1/files": { params: undefined; query: undefined; body: FormData; answer: UserFile }
  "GET /v1/files": { params: undefined; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "purpose"?: string }; body: undefined; answer: UserFileList }
  "GET /v1/files/{user_file_id}": { params: { "user_file_id": string }; query: undefined; body: undefined; answer: UserFile }
  "DELETE /v1/files/{user_file_id}": { params: { "user_file_id": string }; query: undefined; body: undefined; answer: { "id": string; "object": "file"; "deleted": true } }
  "GET /v1/files/{user_file_id}/content": { params: { "user_file_id": string }; query: undefined; body: undefined; answer: unknown }
  "POST /v1/uploads": { params: undefined; query: undefined; body: CreateUpload; answer: Upload }
  "POST /v1/uploads/{upload_id}/parts": { params: { "upload_id": string }; query: undefined; body: FormData; answer: UploadPart }
  "POST /v1/uploads/{upload_id}/complete": { params: { "upload_id": string }; query: undefined; body: CompleteUpload; answer: Upload }
  "POST /v1/uploads/{upload_id}/cancel": { params: { "upload_id": string }; query: undefined; body: undefined; answer: Upload }
  "POST /v1/skills": { params: undefined; query: undefined; body: FormData; answer: Skill }
  "GET /v1/skills": { params: undefined; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: SkillList }
  "GET /v1/skills/{skill_id}": { params: { "skill_id": string }; query: undefined; body: undefined; answer: Skill }
  "POST /v1/skills/{skill_id}": { params: { "skill_id": string }; query: undefined; body: UpdateSkill; answer: Skill }
  "DELETE /v1/skills/{skill_id}": { params: { "skill_id": string }; query: undefined; body: undefined; answer: { "id": string; "object": "skill.deleted"; "deleted": true } }
  "GET /v1/skills/{skill_id}/content": { params: { "skill_id": string }; query: undefined; body: undefined; answer: unknown }
  "POST /v1/skills/{skill_id}/versions": { params: { "skill_id": string }; query: undefined; body: FormData; answer: SkillVersion }
  "GET /v1/skills/{skill_id}/versions": { params: { "skill_id": string }; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: SkillVersionList }
  "GET /v1/skills/{skill_id}/versions/{version}": { params: { "skill_id": string; "version": string }; query: undefined; body: undefined; answer: SkillVersion }
  "DELETE /v1/skills/{skill_id}/versions/{version}": { params: { "skill_id": string; "version": string }; query: undefined; body: undefined; answer: DeletedSkillVersion }
  "GET /v1/skills/{skill_id}/versions/{version}/content": { params: { "skill_id": string; "version": string }; query: undefined; body: undefined; answer: unknown }
  "POST /v1/containers/{container_id}/executions": { params: { "container_id": string }; query: { "wait"?: number; "inline"?: "all" }; body: RunCode; answer: Execution }
  "GET /v1/containers/{container_id}/executions": { params: { "container_id": string }; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: ExecutionList }
  "GET /v1/executions/{execution_id}/outputs/{cell}/{output}": { params: { "execution_id": string; "cell": string; "output": string }; query: { "type": string }; body: undefined; answer: unknown }
  "GET /v1/executions/{execution_id}": { params: { "execution_id": string }; query: { "wait"?: number; "inline"?: "all" }; body: undefined; answer: Execution }
  "POST /v1/executions/{execution_id}/cancel": { params: { "execution_id": string }; query: undefined; body: undefined; answer: Execution }
  "GET /v1/executions/{execution_id}/events": { params: { "execution_id": string }; query: { "after"?: number }; body: undefined; answer: unknown }
  "POST /v1/containers/{container_id}/commands": { params: { "container_id": string }; query: { "wait"?: number }; body: RunCommand; answer: Command }
  "GET /v1/containers/{container_id}/commands": { params: { "container_id": string }; query: undefined; body: undefined; answer: CommandList }
  "GET /v1/commands/{command_id}": { params: { "command_id": string }; query: { "wait"?: number }; body: undefined; answer: Command }
  "POST /v1/commands/{command_id}/cancel": { params: { "command_id": string }; query: undefined; body: undefined; answer: Command }
  "GET /v1/commands/{command_id}/events": { params: { "command_id": string }; query: { "after"?: number }; body: undefined; answer: unknown }
  "POST /v1/commands/{command_id}/stdin": { params: { "command_id": string }; query: undefined; body: CommandStdin; answer: Command }
  "POST /v1/commands/{command_id}/signal": { params: { "command_id": string }; query: undefined; body: CommandSignal; answer: Command }
  "POST /v1/commands/{command_id}/resize": { params: { "command_id": string }; query: undefined; body: CommandResize; answer: Command }
  "GET /v1/containers/{container_id}/notebook.ipynb": { params: { "container_id": string }; query: undefined; body: undefined; answer: unknown }
  "GET /v1/executions/{execution_id}/notebook.ipynb": { params: { "execution_id": string }; query: undefined; body: undefined; answer: unknown }
  "GET /v1/conversations/{conversation_id}/notebook.ipynb": { params: { "conversation_id": string }; query: undefined; body: undefined; answer: unknown }
  "GET /v1/responses/{response_id}/notebook.ipynb": { params: { "response_id": string }; query: undefined; body: undefined; answer: unknown }
  "GET /v1/models": { params: undefined; query: undefined; body: undefined; answer: { "object": "list"; "data": Model[] } }
  "GET /v1/models/{model}": { params: { "model": string }; query: undefined; body: undefined; answer: Model }
  "GET /v1/limits": { params: undefined; query: undefined; body: undefined; answer: Limits }
  "GET /v1/usage": { params: undefined; query: { "from"?: string; "to"?: string }; body: undefined; answer: Usage }
  "GET /v1/containers/{container_id}/files/{file_id}/links": { params: { "container_id": string; "file_id": string }; query: undefined; body: undefined; answer: LinkList }
  "DELETE /v1/containers/{container_id}/files/{file_id}/links": { params: { "container_id": string; "file_id": string }; query: undefined; body: undefined; answer: RevokedLinks }
  "DELETE /v1/links/{link_id}": { params: { "link_id": string }; query: undefined; body: undefined; answer: { "id": string; "object": "link.deleted"; "deleted": true } }
  "POST /v1/webhook_endpoints": { params: undefined; query: undefined; body: { "name": string; "url": string; "event_types": "response.completed" | "response.failed" | "response.cancelled" | "response.incomplete" | "execution.succeeded" | "execution.failed" | "execution.timed_out" | "execution.cancelled" | "container.expired"[] }; answer: WebhookEndpointWithSecret }
  "GET /v1/webhook_endpoints": { params: undefined; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: WebhookEndpointList }
  "GET /v1/webhook_endpoints/{webhook_endpoint_id}": { params: { "webhook_endpoint_id": string }; query: undefined; body: undefined; answer: WebhookEndpoint }
  "POST /v1/webhook_endpoints/{webhook_endpoint_id}": { params: { "webhook_endpoint_id": string }; query: undefined; body: { "name"?: string; "url"?: string; "event_types"?: "response.completed" | "response.failed" | "response.cancelled" | "response.incomplete" | "execution.succeeded" | "execution.failed" | "execution.timed_out" | "execution.cancelled" | "container.expired"[] }; answer: WebhookEndpoint }
  "DELETE /v1/webhook_endpoints/{webhook_endpoint_id}": { params: { "webhook_endpoint_id": string }; query: undefined; body: undefined; answer: { "id": string; "object": "webhook_endpoint.deleted"; "deleted": true } }
  "POST /v1/webhook_endpoints/{webhook_endpoint_id}/rotate_secret": { params: { "webhook_endpoint_id": string }; query: undefined; body: { "keep_old_secret_active_for_24_hours"?: boolean }; answer: WebhookEndpointWithSecret }
  "POST /v1/webhook_endpoints/{webhook_endpoint_id}/test": { params: { "webhook_endpoint_id": string }; query: undefined; body: { "event_type": "response.completed" | "response.failed" | "response.cancelled" | "response.incomplete" | "execution.succeeded" | "execution.failed" | "execution.timed_out" | "execution.cancelled" | "container.expired" }; answer: WebhookTestResult }
  "GET /v1/webhook_endpoints/{webhook_endpoint_id}/deliveries": { params: { "webhook_endpoint_id": string }; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc"; "status"?: "pending" | "delivered" | "dead" }; body: undefined; answer: WebhookDeliveryList }
  "GET /v1/webhook_event_types": { params: undefined; query: undefined; body: undefined; answer: WebhookEventTypes }
  "POST /v1/admin/tenants": { params: undefined; query: undefined; body: { "name": string; "plan"?: string | null; "limits"?: LimitsPatch; "tools_off"?: string[]; "link_days"?: number | null; "image"?: string | null }; answer: Tenant }
  "GET /v1/admin/tenants": { params: undefined; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: TenantList }
  "GET /v1/admin/tenants/{tenant_id}": { params: { "tenant_id": string }; query: undefined; body: undefined; answer: Tenant }
  "POST /v1/admin/tenants/{tenant_id}": { params: { "tenant_id": string }; query: undefined; body: { "name"?: string; "plan"?: string | null; "limits"?: LimitsPatch; "tools_off"?: string[]; "link_days"?: number | null; "image"?: string | null }; answer: Tenant }
  "DELETE /v1/admin/tenants/{tenant_id}": { params: { "tenant_id": string }; query: undefined; body: undefined; answer: Tenant }
  "GET /v1/admin/tenants/{tenant_id}/limits": { params: { "tenant_id": string }; query: undefined; body: undefined; answer: TenantLimits }
  "GET /v1/admin/tenants/{tenant_id}/export": { params: { "tenant_id": string }; query: undefined; body: undefined; answer: unknown }
  "GET /v1/admin/tenants/{tenant_id}/dead_letters": { params: { "tenant_id": string }; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: DeadLetterList }
  "POST /v1/admin/tenants/{tenant_id}/dead_letters/{job_id}/redrive": { params: { "tenant_id": string; "job_id": string }; query: undefined; body: { "may_have_run"?: boolean }; answer: RedrivenJob }
  "PUT /v1/admin/plans/{plan}": { params: { "plan": string }; query: undefined; body: { "limits": LimitsPatch }; answer: Plan }
  "DELETE /v1/admin/plans/{plan}": { params: { "plan": string }; query: undefined; body: undefined; answer: { "id": string; "object": "plan"; "deleted": true } }
  "GET /v1/admin/plans": { params: undefined; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: PlanList }
  "POST /v1/admin/tenants/{tenant_id}/keys": { params: { "tenant_id": string }; query: undefined; body: { "name"?: string | null; "subject"?: string | null; "scopes"?: "run" | "read" | "files" | "admin"[]; "expires_at"?: string | null }; answer: NewApiKey }
  "GET /v1/admin/tenants/{tenant_id}/keys": { params: { "tenant_id": string }; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: ApiKeyList }
  "GET /v1/admin/keys": { params: undefined; query: { "after"?: string; "limit"?: number; "order"?: "asc" | "desc" }; body: undefined; answer: ApiKeyList }
  "GET /v1/admin/keys/{key_id}": { params: { "key_id": string }; query: undefined; body: undefined; answer: ApiKey }
  "POST /v1/admin/keys/{key_id}/revoke": { params: { "key_id": string }; query: undefined; body: undefined; answer: ApiKey }
  "GET /v1/admin/tenants/{tenant_id}/usage": { params: { "tenant_id": string }; query: { "from"?: string; "to"?: string }; body: undefined; answer: Usage }
  "GET /v1/admin/tenants/{tenant_id}/audit": { params: { "tenant_id": string }; query: { "limit"?: number }; body: undefined; answer: AuditEntryList }
  "GET /v1/admin/tenants/{tenant_id}/audit/blocks": { params: { "tenant_id": string }; query: undefined; body: undefined; answer: unknown }
}

