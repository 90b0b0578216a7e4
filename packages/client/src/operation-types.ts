import type { Operations } from './api.ts'
import type { ServerEvent } from './server-events.ts'

export type OperationName = keyof Operations

interface OperationShape {
  readonly parameters: { readonly path?: unknown; readonly query?: unknown }
  readonly responses: object
}
type Shape<Name extends OperationName> = Operations[Name] & OperationShape

/** `never` for an operation without these parameters. */
type Parameters<Name extends OperationName, Place extends 'path' | 'query'> = NonNullable<Shape<Name>['parameters'][Place]>
type Body<Name extends OperationName> = Operations[Name] extends { readonly requestBody?: infer Request } ? NonNullable<Request> : never
/** A form has no types; where the server also accepts JSON, its fields are known. */
type BodyValue<Request> = Request extends { readonly content: infer Content }
  ? { [Type in keyof Content]: Type extends 'multipart/form-data' ? FormData : Content[Type] }[keyof Content]
  : never

type Field<Name extends string, Value> = [Value] extends [never]
  ? { readonly [_ in Name]?: undefined }
  : object extends Value
    ? { readonly [_ in Name]?: Value }
    : { readonly [_ in Name]: Value }

/** The parts of a call that its operation has. A part whose fields are all optional may be left out. */
export type CallOptions<Name extends OperationName> = Field<'params', Parameters<Name, 'path'>> &
  Field<'query', Parameters<Name, 'query'>> &
  Field<'body', BodyValue<Body<Name>>> & {
    readonly signal?: AbortSignal
    /** Calls with the same key and body create one object. */
    readonly idempotencyKey?: string
  }

type Success<Responses> = Responses[keyof Responses]
type ValueOf<Content> = Content extends { readonly 'application/json': infer Value }
  ? Value
  : Content extends { readonly 'application/x-ipynb+json': infer Value }
    ? Value
    : Content extends { readonly 'application/x-ndjson': infer Line }
      ? AsyncGenerator<Line, void, undefined>
      : Content extends { readonly 'text/event-stream': unknown }
        ? AsyncGenerator<ServerEvent, void, undefined>
        : Blob
type AnswerOf<Response> = Response extends { readonly content: infer Content } ? ValueOf<Content> : Blob

/** What a call gives: parsed JSON, the events of a stream, the values of JSON lines, or the bytes of a file. */
export type Answer<Name extends OperationName> = AnswerOf<Success<Shape<Name>['responses']>>

/** Operations whose answer is a stream of events on request. */
export type StreamingName = {
  [Name in OperationName]: Success<Shape<Name>['responses']> extends {
    readonly content: { readonly 'application/json': unknown; readonly 'text/event-stream': unknown }
  }
    ? Name
    : never
}[OperationName]

/** Asks for the stream: in the body, or in the query of an operation without a body. */
export type StreamRequest<Name extends StreamingName> = [Body<Name>] extends [never]
  ? { readonly query: { readonly stream: 'true' } }
  : { readonly body: { readonly stream: true } }
