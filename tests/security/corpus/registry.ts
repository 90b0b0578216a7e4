import { binaries, channels } from './binaries.ts'
import { deaths } from './deaths.ts'
import { devices, foreignWrites, hostFiles } from './files.ts'
import { information } from './information.ts'
import { kernelChannel } from './kernel-channel.ts'
import { kernelMessages } from './kernel-messages.ts'
import { language } from './language.ts'
import { names } from '../../../scripts/hostile-programs/names.ts'
import { network } from '../../../scripts/hostile-programs/network.ts'
import { artifacts, outputs } from './outputs.ts'
import { privilege, processes } from './processes.ts'
import type { Family, Program } from '../../../scripts/hostile-programs/program.ts'
import { published } from './published.ts'
import { resources } from './resources.ts'
import { savedState } from './saved-state.ts'
import { supervisor } from './supervisor.ts'
import { namespaces, systemCalls } from './system-calls.ts'
import { userCounters } from './user-counters.ts'

/** Every hostile program, by family. */
export const FAMILIES: readonly Family[] = [
  network,
  names,
  systemCalls,
  namespaces,
  processes,
  privilege,
  hostFiles,
  foreignWrites,
  devices,
  information,
  supervisor,
  kernelChannel,
  kernelMessages,
  language,
  binaries,
  channels,
  published,
  outputs,
  artifacts,
  resources,
  userCounters,
  savedState,
  deaths,
]

export const PROGRAMS: readonly Program[] = FAMILIES.flatMap(({ programs }) => programs)

const MAX_PER_MECHANISM = 3

/** The programs by mechanism. */
export const MECHANISMS: ReadonlyMap<string, readonly Program[]> = Map.groupBy(PROGRAMS, ({ mechanism }) => mechanism)

/** The counted programs: the first three of each mechanism. The others run as well, because another argument may find a gap. */
export const DISTINCT: ReadonlySet<Program> = new Set([...MECHANISMS.values()].flatMap((programs) => programs.slice(0, MAX_PER_MECHANISM)))
