import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { LOCAL_DRIVERS } from '../../adapters/drivers/registry.ts'
import { BUILT_IN_IMAGES } from '../../model/containers/images.ts'
import { LIMITS } from '../../model/limits.ts'
import type { QueueName } from '../../model/messages.ts'
import { WIRE_SETTINGS, wireSettingsOf } from '../../wires/settings.ts'
import { imageList, imagePoolList } from './config-lists.ts'
import { portsDomainOf, PORTS_VARIABLES } from './config-ports.ts'
import { networkConfigOf, NETWORK_VARIABLES, type NetworkConfig } from './config-network.ts'
import { flag, hostList, LOOPBACK_HOSTS, originList, issuerList, type TokenIssuer } from '../../http/config.ts'

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
const oneOf = <const T extends readonly string[]>(words: T) => z.enum(words, `must be one of ${words.join(', ')}`)

/** The resources of CELLBLOCK_STORAGE=aws. */
const AWS_NAMES = {
  TABLE_NAME: z.string().optional(),
  BUCKET_NAME: z.string().optional(),
  TURNS_QUEUE_URL: z.string().optional(),
  EXECUTIONS_QUEUE_URL: z.string().optional(),
  PLACEMENTS_QUEUE_URL: z.string().optional(),
} as const

const LocalEnv = z.object({
  PORT: wholeNumber(0, 65_535).default(8787),
  HOST: z.string().default('127.0.0.1'),
  CELLBLOCK_API_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  CELLBLOCK_ADMIN_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  CELLBLOCK_SANDBOX_IMAGE: z.string().default('cellblock-sandbox:dev'),
  /** Images that containers may name: `slim=cellblock-sandbox:dev,standard=cellblock-sandbox:dev-standard`. */
  CELLBLOCK_IMAGES: imageList.optional(),
  /** The image of containers that name none. */
  CELLBLOCK_DEFAULT_IMAGE: z.string().optional(),
  /** An image of this project that the server builds in the background; then it is the default. `npm start` sets it. */
  CELLBLOCK_BUILD_IMAGE: oneOf(BUILT_IN_IMAGES).optional(),
  /** Warm sandboxes of images other than the default: `slim=1,full=1`. */
  CELLBLOCK_IMAGE_POOLS: imagePoolList.default({}),
  CELLBLOCK_STORAGE: oneOf(['embedded', 'aws']).default('embedded'),
  ...AWS_NAMES,
  AWS_ENDPOINT_URL: z.string().optional(),
  AWS_ENDPOINT_URL_S3: z.string().optional(),
  CELLBLOCK_POOL: wholeNumber(0, 50).default(2),
  /** Maximum warm pool size while containers arrive faster than sandboxes start. */
  CELLBLOCK_POOL_MAX: wholeNumber(0, 50).optional(),
  /** An idle container hibernates after this time. */
  CELLBLOCK_IDLE_SECONDS: wholeNumber(1, 31_536_000).default(LIMITS.hibernateAfterMinutes * 60),
  /** A server with a data folder saves the variables of unused containers when it stops, for at most this long; 0 saves none. */
  CELLBLOCK_SAVE_SECONDS: wholeNumber(0, 600).default(10),
  CELLBLOCK_PUBLIC_URL: z.url('must be a whole address, such as https://code.example.org').optional(),
  /** Further host names for which the server answers, such as those of a reverse proxy. */
  CELLBLOCK_ALLOWED_HOSTS: hostList.default([]),
  ...WIRE_SETTINGS,
  ...PORTS_VARIABLES,
  CELLBLOCK_PLAYGROUND: z.string().optional(),
  CELLBLOCK_GUIDE: z.string().optional(),
  CELLBLOCK_BUILD_GUIDE: z.literal('1').optional(),
  CELLBLOCK_LOG: oneOf(['silent', 'events']).default('silent'),
  CELLBLOCK_METRICS_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  /** Traces go to this OTLP endpoint; the exporter reads the other OTEL_EXPORTER_OTLP_* variables itself. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url('must be a whole address, such as http://127.0.0.1:4318').optional(),
  /** Memory and disk that sandbox starts leave free on this machine, MiB. */
  CELLBLOCK_RESERVE_MIB: wholeNumber(0, 1_000_000).default(256),
  CELLBLOCK_STALL_SECONDS: wholeNumber(1, 3_600).default(LIMITS.stallSeconds),
  /** Connections of one address on which no request had a valid key. */
  CELLBLOCK_KEYLESS_CONNECTIONS: wholeNumber(1, 1_000_000).default(LIMITS.maxKeylessConnections),
  /** Request bodies, and unread answers, in memory, MiB. One tenant gets a quarter. */
  CELLBLOCK_REQUEST_MIB: wholeNumber(4, 1_000_000).default(LIMITS.maxRequestBytesInFlight / 1024 ** 2),
  CELLBLOCK_ANSWER_MIB: wholeNumber(4, 1_000_000).default(LIMITS.maxResultBytesInFlight / 1024 ** 2),
  MAX_OPEN_STREAMS: wholeNumber(1, 100_000).default(LIMITS.maxOpenStreams),
  CORS_ORIGINS: originList.default([]),
  CELLBLOCK_TOKEN_ISSUERS: issuerList.default([]),
  CELLBLOCK_LINKS_REQUIRE_KEY: flag.optional(),
  /** Host names to which webhooks may go over http and at private addresses. */
  CELLBLOCK_WEBHOOK_HOSTS: hostList.default([]),
  ...NETWORK_VARIABLES,
  SANDBOX_DRIVER: oneOf(LOCAL_DRIVERS).default('docker'),
  SANDBOX_DOCKER_RUNTIME: z.string().optional(),
  /** A folder of wheels from which `pip install` in a sandbox installs. */
  CELLBLOCK_WHEELHOUSE: z.string().min(1).optional(),
  /** Python modules that a warm sandbox has imported, such as `numpy,pandas`, or `none`. */
  SANDBOX_PRELOAD: z
    .string()
    .regex(/^[\w.]+(,[\w.]+)*$/, 'must be module names with commas between them, or none')
    .optional(),
  /** Docker Desktop shares no Unix sockets with its host, so there the supervisor is reached through a relay. */
  SANDBOX_TRANSPORT: oneOf(['unix', 'exec']).default(process.platform === 'linux' ? 'unix' : 'exec'),
  CELLBLOCK_CONTROL_DIR: z.string().min(1).optional(),
})

export interface AwsStorageConfig {
  readonly kind: 'aws'
  readonly tableName: string
  readonly bucket: string
  readonly queueUrls: Readonly<Record<QueueName, string>>
  /** Whether AWS_ENDPOINT_URL or AWS_ENDPOINT_URL_S3 names another endpoint than AWS's. */
  readonly isEmulated: boolean
}

export interface LocalConfig {
  readonly storage: { readonly kind: 'embedded' } | AwsStorageConfig
  readonly port: number
  readonly host: string
  readonly apiKey: string | null
  /** The key that administers tenants; null for a new one at the first start. */
  readonly adminKey: string | null
  /** Issuers of tokens that work in place of API keys. */
  readonly tokenIssuers: readonly TokenIssuer[]
  /** The folder of the embedded storage; null keeps everything in a temporary folder, deleted on exit. */
  readonly dataDir: string | null
  /** References of the images that containers may name, by name. */
  readonly images: Readonly<Record<string, string>>
  readonly defaultImage: string
  /** The image to build beside the work; null for none. */
  readonly buildImage: string | null
  /** Warm sandboxes of images other than the default. */
  readonly imagePools: Readonly<Record<string, { readonly '1g': number }>>
  /** Warm sandboxes of the smallest tier. */
  readonly poolSize: number
  /** Maximum warm pool size, reached with the rate of claims. */
  readonly poolCeiling: number
  /** An idle container hibernates after this time, milliseconds. */
  readonly hibernateAfterMs: number
  /** Maximum time for saving the variables of unused containers at a stop, milliseconds. */
  readonly saveMs: number
  readonly publicUrl: string | null
  /** Host names, besides that of `publicUrl`, for which the server answers. */
  readonly allowedHosts: readonly string[]
  /** Settings of wires by the names of their variables. */
  readonly wireSettings: Readonly<Record<string, string>>
  /** The domain of published ports; null: none is published. */
  readonly portsDomain: string | null
  /** The folder of the built playground; null serves none. */
  readonly playgroundDir: string | null
  /** The documentation as `npm run docs:build` wrote it. */
  readonly guideDir: string | null
  /** Builds the documentation into `guideDir` beside the server's work. */
  readonly buildsGuide: boolean
  readonly log: 'silent' | 'events'
  /** The bearer token of `/metrics`; null serves it to this machine only. */
  readonly metricsKey: string | null
  /** Whether spans are exported by OTLP. */
  readonly exportsTraces: boolean
  /** Memory and disk that sandbox starts leave free on this machine, bytes. */
  readonly reserveBytes: number
  /** Maximum number of open event streams. */
  readonly maxOpenStreams: number
  /** Bounds of connections, as CELLBLOCK_STALL_SECONDS and the three variables after it have them. */
  readonly stallMs: number
  readonly maxKeyless: number
  readonly requestBytes: number
  readonly answerBytes: number
  /** Whether links in answers open only with an API key. */
  readonly linksRequireKey: boolean
  /** Host names to which webhooks may go over http and at private addresses. */
  readonly webhookHosts: readonly string[]
  readonly network: NetworkConfig
  /** Origins whose pages may call the API from a browser. */
  readonly corsOrigins: readonly string[]
  readonly driver: (typeof LOCAL_DRIVERS)[number]
  readonly dockerRuntime: string | null
  /** An absolute path; null without a wheelhouse. */
  readonly wheelhouse: string | null
  /** Python modules that a warm sandbox has imported; null leaves them to the image. */
  readonly preload: readonly string[] | null
  readonly transport: 'unix' | 'exec'
  /** The folder of control sockets that an engine proxy fills; null without one. */
  readonly controlDir: string | null
  /** A run step hands over after this time, milliseconds. */
  readonly stepBudgetMs: number
}

/** Thrown for an invalid flag or variable; the message names it and says what to do. */
export class ConfigError extends Error {}

/** Reads flags and environment of the local server. Throws ConfigError. */
export function readLocalConfig(argv: readonly string[], env: Readonly<Record<string, string | undefined>> = process.env): LocalConfig {
  if (env['CELLBLOCK_POOL_MOST']) throw new ConfigError('CELLBLOCK_POOL_MOST is now CELLBLOCK_POOL_MAX. Rename the variable.')
  const parsed = LocalEnv.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')))
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`).join(' '))
  }
  const flags = readFlags(argv)
  const values = parsed.data
  if (values.CELLBLOCK_STORAGE === 'aws' && flags.data !== undefined)
    throw new ConfigError('--data is for CELLBLOCK_STORAGE=embedded: with CELLBLOCK_STORAGE=aws everything is kept in AWS. Leave one out.')
  const portsDomain = portsDomainOf(values.CELLBLOCK_PORTS_DOMAIN, values.CELLBLOCK_PUBLIC_URL)
  if (typeof portsDomain === 'object' && portsDomain !== null) throw new ConfigError(portsDomain.problem)
  return {
    storage: values.CELLBLOCK_STORAGE === 'aws' ? awsStorageOf(values) : { kind: 'embedded' },
    port: values.PORT,
    host: values.HOST,
    apiKey: values.CELLBLOCK_API_KEY ?? null,
    adminKey: values.CELLBLOCK_ADMIN_KEY ?? null,
    tokenIssuers: values.CELLBLOCK_TOKEN_ISSUERS,
    dataDir: flags.data === undefined ? null : resolve(flags.data),
    ...imagesOf(values),
    buildImage: values.CELLBLOCK_BUILD_IMAGE ?? null,
    imagePools: Object.fromEntries(Object.entries(values.CELLBLOCK_IMAGE_POOLS).map(([name, size]) => [name, { '1g': size }])),
    poolSize: values.CELLBLOCK_POOL,
    poolCeiling: values.CELLBLOCK_POOL_MAX ?? values.CELLBLOCK_POOL,
    hibernateAfterMs: values.CELLBLOCK_IDLE_SECONDS * 1000,
    saveMs: values.CELLBLOCK_SAVE_SECONDS * 1000,
    publicUrl: values.CELLBLOCK_PUBLIC_URL ?? null,
    allowedHosts: [
      ...LOOPBACK_HOSTS,
      ...(WILDCARDS.includes(values.HOST) ? [] : [urlHost(values.HOST)]),
      ...values.CELLBLOCK_ALLOWED_HOSTS,
    ],
    wireSettings: wireSettingsOf(values),
    portsDomain,
    playgroundDir: values.CELLBLOCK_PLAYGROUND ?? null,
    guideDir: values.CELLBLOCK_GUIDE ?? null,
    buildsGuide: values.CELLBLOCK_BUILD_GUIDE !== undefined,
    log: values.CELLBLOCK_LOG,
    metricsKey: values.CELLBLOCK_METRICS_KEY ?? null,
    exportsTraces: values.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
    reserveBytes: values.CELLBLOCK_RESERVE_MIB * 1024 ** 2,
    maxOpenStreams: values.MAX_OPEN_STREAMS,
    stallMs: values.CELLBLOCK_STALL_SECONDS * 1000,
    maxKeyless: values.CELLBLOCK_KEYLESS_CONNECTIONS,
    requestBytes: values.CELLBLOCK_REQUEST_MIB * 1024 ** 2,
    answerBytes: values.CELLBLOCK_ANSWER_MIB * 1024 ** 2,
    corsOrigins: values.CORS_ORIGINS,
    webhookHosts: values.CELLBLOCK_WEBHOOK_HOSTS,
    network: networkConfigOf(values, env),
    linksRequireKey: values.CELLBLOCK_LINKS_REQUIRE_KEY ?? false,
    driver: values.SANDBOX_DRIVER,
    dockerRuntime: values.SANDBOX_DOCKER_RUNTIME ?? null,
    wheelhouse: values.CELLBLOCK_WHEELHOUSE === undefined ? null : resolve(values.CELLBLOCK_WHEELHOUSE),
    preload: values.SANDBOX_PRELOAD === undefined ? null : preloadOf(values.SANDBOX_PRELOAD),
    transport: values.SANDBOX_TRANSPORT,
    controlDir: values.CELLBLOCK_CONTROL_DIR ?? null,
    stepBudgetMs: 50_000,
  }
}

function awsStorageOf(values: z.infer<typeof LocalEnv>): AwsStorageConfig {
  const named = (name: keyof typeof AWS_NAMES): string => {
    const value = values[name]
    if (value === undefined) throw new ConfigError(`CELLBLOCK_STORAGE=aws needs ${Object.keys(AWS_NAMES).join(', ')}. ${name} is not set.`)
    return value
  }
  return {
    kind: 'aws',
    tableName: named('TABLE_NAME'),
    bucket: named('BUCKET_NAME'),
    queueUrls: { turns: named('TURNS_QUEUE_URL'), executions: named('EXECUTIONS_QUEUE_URL'), placements: named('PLACEMENTS_QUEUE_URL') },
    isEmulated: values.AWS_ENDPOINT_URL !== undefined || values.AWS_ENDPOINT_URL_S3 !== undefined,
  }
}

/** One image is named by its tag: `…-standard` and `…-full` have these names. */
function imagesOf(values: z.infer<typeof LocalEnv>): Pick<LocalConfig, 'images' | 'defaultImage'> {
  const reference = values.CELLBLOCK_SANDBOX_IMAGE
  const name = BUILT_IN_IMAGES.find((one) => reference.endsWith(`-${one}`)) ?? 'slim'
  const images: Readonly<Record<string, string>> = values.CELLBLOCK_IMAGES ?? { [name]: reference }
  const defaultImage = values.CELLBLOCK_DEFAULT_IMAGE ?? Object.keys(images)[0] ?? name
  if (!Object.hasOwn(images, defaultImage))
    throw new ConfigError(`CELLBLOCK_DEFAULT_IMAGE must be one of ${Object.keys(images).join(', ')}.`)
  return { images, defaultImage }
}

const FLAG = { type: 'string' } as const
/** Wildcard addresses, which listen on every interface and are not host names. */
export const WILDCARDS: readonly string[] = ['0.0.0.0', '::']
/** A `Host` header has an IPv6 address in brackets. */
const urlHost = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)
const preloadOf = (list: string): readonly string[] => (list === 'none' ? [] : list.split(','))

function readFlags(argv: readonly string[]): { readonly data?: string | undefined } {
  try {
    return parseArgs({ args: [...argv], options: { data: FLAG, image: FLAG, runtime: FLAG }, allowPositionals: false }).values
  } catch (cause) {
    throw new ConfigError(
      `${cause instanceof Error ? cause.message : String(cause)}. Known: --data DIR, --image NAME, --runtime NAME, --install, --no-install. Remove the other one, or set it as an environment variable (docs/configuration.md).`,
    )
  }
}

/** Whether the storage outlives the server. */
export const isKept = ({ storage, dataDir }: LocalConfig): boolean => dataDir !== null || storage.kind === 'aws'

/** Labels the sandboxes of the server that owns this storage with a name that is stable across restarts. */
export const stageOf = (storageName: string): string => `local-${createHash('sha256').update(storageName).digest('hex').slice(0, 12)}`
