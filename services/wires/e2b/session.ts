import * as z from 'zod'
import type { Container } from '../../model/containers/container.ts'
import type { Extension } from '../../model/containers/extension.ts'
import { EXECUTION_LANGUAGES } from '../../model/executions/language.ts'
import { boundedList, boundedRecord } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import { SCOPES } from '../../model/tenants/tenant.ts'
import type { ApiDeps } from '../../http/deps.ts'

/** Names the extension of containers that this wire keeps. */
const WIRE = 'e2b'
/** More than this wire stores. */
const LIST = { max: 1_000 } as const
const MAX_NAMES = 10_000

/** A key that created the sandbox or connected to it. Its access token does what the key could do then, while the key is valid. */
const Grant = lazySchema(() =>
  z.object({
    keyId: z.string(),
    scopes: boundedList(z.enum(SCOPES), { max: SCOPES.length }).readonly(),
    /** The end user of the key; null for a key that sees the whole tenant. */
    subject: z.string().nullable(),
    /** End of the key or of the JSON Web Token, epoch ms; null for none. */
    expiresAt: z.number().nullable(),
  }),
)
export type Grant = Readonly<Described<typeof Grant>>

/** A container as E2B's clients see it. */
const Session = lazySchema(() =>
  z.object({
    /** `root`: random; the access tokens of the data plane are derived from it. */
    secrets: z.object({ root: z.string() }),
    /** One for each key, in the order of their latest connect. */
    grants: boundedList(Grant(), LIST).readonly(),
    /** Name of the template, as the client gave it. */
    template: z.string(),
    metadata: boundedRecord(z.string(), z.string(), MAX_NAMES),
    /** Environment variables of all code and commands of this wire. */
    env: boundedRecord(z.string(), z.string(), MAX_NAMES),
    /** End of the sandbox's time, epoch ms. */
    endAt: z.number(),
    /** What happens at `endAt`. The next call of this wire finds it done. */
    onTimeout: z.enum(['kill', 'pause']),
    /** Calls of the data plane wake a paused sandbox. Without it only `connect` does. */
    autoResume: z.boolean(),
    isPaused: z.boolean(),
    /** Whether its processes may live through the end of its time. Without it they end then. */
    keepsMemory: z.boolean().default(true),
    /** Whether visitors of its ports need the access token. A container that another wire created stays closed. */
    hasClosedPorts: z.boolean().default(true),
    /** `Host` of requests to its ports, with `${PORT}` for the port; null for the default. */
    requestHost: z.string().nullable().default(null),
    /** Contexts that clients created, besides the default one of each language. */
    contexts: boundedList(z.object({ id: z.string(), language: z.enum(EXECUTION_LANGUAGES), cwd: z.string() }), LIST).readonly(),
    /** Watched folders: the command that watches, and the last of its events that the client has. */
    watchers: boundedList(z.object({ id: z.string(), root: z.string(), seq: z.number() }), LIST).readonly(),
  }),
)
export type Session = Readonly<Described<typeof Session>>

/** Time of a sandbox for which a client names none. */
export const DEFAULT_SECONDS = 300

/** Paused by a call, or by the end of its time. */
export const isPaused = (session: Session, now: number): boolean => session.isPaused || isPausedByTime(session, now)

/** By the end of its time only: its sandbox may still run. */
export const isPausedByTime = ({ isPaused: byCall, onTimeout, endAt }: Session, now: number): boolean =>
  !byCall && onTimeout === 'pause' && endAt <= now

/** Undefined for a container that no client of this wire has used. */
export const sessionOf = ({ extensions }: Pick<Container, 'extensions'>): Session | undefined => parsed(extensions?.[WIRE])

const parsed = (stored: Extension | undefined): Session | undefined => (stored === undefined ? undefined : Session().parse(stored))

/**
 * Changes the session of a sandbox and returns the row; null when the container is missing or deleted. `change` runs again when another call changed
 * the row first. Undefined leaves it as it is.
 */
export const changeSession = (
  { deps }: { readonly deps: Pick<ApiDeps, 'table'> },
  { tenant, id }: Pick<Container, 'tenant' | 'id'>,
  change: (session: Session | undefined) => Session | undefined,
): Promise<Container | null> => deps.table.containers.updateExtension({ tenant, id, wire: WIRE }, (stored) => change(parsed(stored)))
