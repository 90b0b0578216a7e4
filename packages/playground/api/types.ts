/** The parts of the wire that the page reads. Everything in them may come from untrusted code. */
export type Bundle = Readonly<Record<string, unknown>>

export type Output =
  | { readonly output_type: 'stream'; readonly name: 'stdout' | 'stderr'; readonly text: string | readonly string[] }
  | { readonly output_type: 'display_data' | 'execute_result'; readonly data: Bundle }
  | { readonly output_type: 'error'; readonly ename: string; readonly evalue: string; readonly traceback: readonly string[] }

export type ExecutionStatus = 'queued' | 'starting' | 'running' | 'succeeded' | 'failed' | 'timed_out' | 'cancelled'

export interface OutputFile {
  readonly id: string
  readonly path: string
  readonly bytes: number
}

export interface Execution {
  readonly id: string
  readonly container_id: string
  readonly status: ExecutionStatus
  readonly reason: string | null
  readonly outputs?: readonly Output[]
  readonly stdout: string
  readonly stderr: string
  readonly files: readonly OutputFile[]
  readonly lost: readonly { readonly what: string; readonly reason: string }[]
  readonly usage: { readonly run_ms: number; readonly peak_memory_bytes: number } | null
}

/** That an execution ran and how it ended. */
export interface RunSummary {
  readonly id: string
  readonly container_id: string
  readonly subject: string | null
  readonly language: string
  readonly status: ExecutionStatus
  readonly reason: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly metadata: Readonly<Record<string, string>>
}

export interface Container {
  readonly id: string
  readonly name: string
  readonly status: 'running' | 'expired'
  readonly created_at: number
  readonly last_active_at: number
  readonly expires_after: { readonly minutes: number }
  readonly memory_limit: string
  readonly image?: string
}

export interface ContainerFile {
  readonly id: string
  readonly bytes: number
  readonly path: string
  readonly source: 'user' | 'assistant'
  readonly created_at: number
}

export interface List<T> {
  readonly data: readonly T[]
  readonly has_more: boolean
  readonly last_id: string | null
}

export interface CodeOutcome {
  readonly execution_id: string | null
  readonly status: ExecutionStatus
  readonly reason: string | null
  /** `user`: a person ran the code, in this language. */
  readonly source?: 'user'
  readonly language?: string
  /** The place that it took over, as the time in an id. */
  readonly place?: string
}

export interface WireConversation {
  readonly id: string
  readonly created_at: number
  readonly x_cellblock: {
    readonly title: string | null
    readonly archived: boolean
    readonly updated_at: number
    readonly container_id: string | null
    readonly running: readonly string[]
    readonly unfinished: readonly string[]
  }
}

interface TextPart {
  readonly type: string
  readonly text?: string
}

/** An item of a conversation or a response. */
export type WireItem =
  | {
      readonly type: 'message'
      readonly id?: string
      readonly role: string
      readonly content:
        | string
        | readonly {
            readonly type: string
            readonly text?: string
            readonly refusal?: string
            readonly filename?: string
            readonly image_url?: string
          }[]
    }
  | {
      readonly type: 'reasoning'
      readonly id: string
      readonly summary?: readonly TextPart[] | null
      readonly content?: readonly TextPart[] | null
    }
  /** A question that the server did not accept. */
  | { readonly type: 'x_cellblock_refused'; readonly id: string; readonly text?: string; readonly error?: string }
  | {
      readonly type: 'code_interpreter_call'
      readonly id: string
      readonly code: string | null
      readonly status: string
      readonly outputs?: readonly { readonly type: string; readonly logs?: string; readonly url?: string }[] | null
      readonly x_cellblock?: CodeOutcome
    }
  | OtherCall

/** A call of any other tool. Its `type` on the wire is that of the tool; the page reads the fields that all of them share. */
export interface OtherCall {
  readonly type: 'function_call'
  readonly id: string
  readonly name?: string
  readonly action?: { readonly query?: string }
  readonly x_cellblock?: { readonly output?: string }
}

export interface WireResponse {
  readonly id: string
  readonly status: string
  readonly output: readonly WireItem[]
  readonly error: { readonly message: string } | null
  readonly incomplete_details: { readonly reason: string } | null
}

/** The data of one event of a response's stream. */
export interface StreamEvent {
  readonly type: string
  readonly sequence_number: number
  readonly output_index?: number
  readonly delta?: string
  readonly code?: string
  readonly item?: WireItem
  readonly response?: WireResponse
  readonly message?: string
  readonly x_cellblock?: {
    readonly type: string
    readonly output_index?: number
    readonly stream?: 'stdout' | 'stderr'
    readonly text?: string
  }
}
