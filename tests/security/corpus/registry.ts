import { binaries, channels } from './binaries.ts'
import { devices, foreignWrites, hostFiles } from './files.ts'
import { information } from './information.ts'
import { language } from './language.ts'
import { names } from './names.ts'
import { network } from './network.ts'
import { artifacts, outputs } from './outputs.ts'
import { privilege, processes } from './processes.ts'
import type { Family, Program } from './program.ts'
import { deaths, resources } from './resources.ts'
import { supervisor } from './supervisor.ts'
import { namespaces, systemCalls } from './system-calls.ts'

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
  language,
  binaries,
  channels,
  outputs,
  artifacts,
  resources,
  deaths,
]

export const PROGRAMS: readonly Program[] = FAMILIES.flatMap(({ programs }) => programs)
