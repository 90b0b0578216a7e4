import type { EnumType, Field, MessageType } from './protobuf.ts'

/** E2B's `process.proto` and `filesystem.proto`, as the descriptors in the npm package `e2b` 2.51.0 have them. */
type FieldType = Field['type']
type Shape = Readonly<Record<string, readonly [number, FieldType, 'repeated'?]>>
const message = (shape: Shape): MessageType => ({
  fields: Object.fromEntries(
    Object.entries(shape).map(([name, [number, type, repeated]]) => [name, { number, type, ...(repeated && { isRepeated: true }) }]),
  ),
})

const EMPTY = message({})
const FileType: EnumType = {
  values: { 0: 'FILE_TYPE_UNSPECIFIED', 1: 'FILE_TYPE_FILE', 2: 'FILE_TYPE_DIRECTORY', 3: 'FILE_TYPE_SYMLINK' },
}
const EventType: EnumType = {
  values: {
    0: 'EVENT_TYPE_UNSPECIFIED',
    1: 'EVENT_TYPE_CREATE',
    2: 'EVENT_TYPE_WRITE',
    3: 'EVENT_TYPE_REMOVE',
    4: 'EVENT_TYPE_RENAME',
    5: 'EVENT_TYPE_CHMOD',
  },
}
const Signal: EnumType = { values: { 0: 'SIGNAL_UNSPECIFIED', 9: 'SIGNAL_SIGKILL', 15: 'SIGNAL_SIGTERM' } }

const EntryInfo = message({
  name: [1, 'string'],
  type: [2, FileType],
  path: [3, 'string'],
  size: [4, 'int64'],
  mode: [5, 'uint32'],
  permissions: [6, 'string'],
  owner: [7, 'string'],
  group: [8, 'string'],
  modifiedTime: [9, 'timestamp'],
  symlinkTarget: [10, 'string'],
  metadata: [11, 'stringMap'],
})
const Path = message({ path: [1, 'string'] })
const Entry = message({ entry: [1, EntryInfo] })
const WatchRequest = message({ path: [1, 'string'], recursive: [2, 'bool'], includeEntry: [3, 'bool'], allowNetworkMounts: [4, 'bool'] })
const FilesystemEvent = message({ name: [1, 'string'], type: [2, EventType], entry: [3, EntryInfo] })
const Watcher = message({ watcherId: [1, 'string'] })

const Pty = message({ size: [1, message({ cols: [1, 'uint32'], rows: [2, 'uint32'] })] })
const ProcessConfig = message({ cmd: [1, 'string'], args: [2, 'string', 'repeated'], envs: [3, 'stringMap'], cwd: [4, 'string'] })
const ProcessInfo = message({ config: [1, ProcessConfig], pid: [2, 'uint32'], tag: [3, 'string'] })
const Selector = message({ pid: [1, 'uint32'], tag: [2, 'string'] })
const OfProcess = message({ process: [1, Selector] })
const ProcessEvent = message({
  start: [1, message({ pid: [1, 'uint32'] })],
  data: [2, message({ stdout: [1, 'bytes'], stderr: [2, 'bytes'], pty: [3, 'bytes'] })],
  end: [3, message({ exitCode: [1, 'sint32'], exited: [2, 'bool'], status: [3, 'string'], error: [4, 'string'] })],
  keepalive: [4, EMPTY],
})
const ProcessStream = message({ event: [1, ProcessEvent] })

interface ProcedureTypes {
  readonly request: MessageType
  readonly response: MessageType
}

/** The messages of each procedure, by its path. */
export const PROCEDURES: Readonly<Record<string, ProcedureTypes>> = {
  '/filesystem.Filesystem/Stat': { request: Path, response: Entry },
  '/filesystem.Filesystem/MakeDir': { request: Path, response: Entry },
  '/filesystem.Filesystem/Move': { request: message({ source: [1, 'string'], destination: [2, 'string'] }), response: Entry },
  '/filesystem.Filesystem/ListDir': {
    request: message({ path: [1, 'string'], depth: [2, 'uint32'] }),
    response: message({ entries: [1, EntryInfo, 'repeated'] }),
  },
  '/filesystem.Filesystem/Remove': { request: Path, response: EMPTY },
  '/filesystem.Filesystem/WatchDir': {
    request: WatchRequest,
    response: message({ start: [1, EMPTY], filesystem: [2, FilesystemEvent], keepalive: [3, EMPTY] }),
  },
  '/filesystem.Filesystem/CreateWatcher': { request: WatchRequest, response: Watcher },
  '/filesystem.Filesystem/GetWatcherEvents': { request: Watcher, response: message({ events: [1, FilesystemEvent, 'repeated'] }) },
  '/filesystem.Filesystem/RemoveWatcher': { request: Watcher, response: EMPTY },
  '/process.Process/List': { request: EMPTY, response: message({ processes: [1, ProcessInfo, 'repeated'] }) },
  '/process.Process/Connect': { request: OfProcess, response: ProcessStream },
  '/process.Process/Start': {
    request: message({ process: [1, ProcessConfig], pty: [2, Pty], tag: [3, 'string'], stdin: [4, 'bool'] }),
    response: ProcessStream,
  },
  '/process.Process/Update': { request: message({ process: [1, Selector], pty: [2, Pty] }), response: EMPTY },
  '/process.Process/SendInput': {
    request: message({ process: [1, Selector], input: [2, message({ stdin: [1, 'bytes'], pty: [2, 'bytes'] })] }),
    response: EMPTY,
  },
  '/process.Process/SendSignal': { request: message({ process: [1, Selector], signal: [2, Signal] }), response: EMPTY },
  '/process.Process/CloseStdin': { request: OfProcess, response: EMPTY },
}
