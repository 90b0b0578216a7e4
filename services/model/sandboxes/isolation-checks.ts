/** The exit code of a supervisor that refused for a check without its own code. */
const REFUSED = 86
/** Exit code of the first check below; codes up to 192 belong to signals. */
const FIRST_CODE = 193

/** Isolation checks in the order of their exit codes, as in `runtime-image/supervisor/cellblock_supervisor/refusal_codes.py`. Append only. */
export const ISOLATION_CHECKS = [
  'unix_socket_opens',
  'no_other_socket_opens',
  'dangerous_calls_are_refused',
  'namespaces_are_refused',
  'supervisor_memory_is_closed',
  'supervisor_details_are_closed',
  'supervisor_cannot_be_signalled',
  'only_worker_folders_are_writable',
  'oom_score_is_fixed',
  'data_folder_is_writable',
  'control_socket_is_unreachable',
  'environment_holds_no_secret',
  'no_privilege_is_left',
  'root_cannot_be_regained',
  'engine_socket_is_absent',
  'foreign_architectures_are_refused',
  'own_filters_are_refused',
  'terminals_are_closed',
  'worker_has_a_name',
  'devices_are_harmless',
  'seccomp_filter_is_permanent',
  'worker_could_not_be_created',
  'probe_timed_out',
  'supervisor_is_process_1',
  'supervisor_has_only_its_capabilities',
  'capabilities_are_not_dangerous',
  'no_new_privileges_is_set',
  'engine_seccomp_is_on',
  'root_file_system_is_read_only',
  'kernel_interfaces_are_closed',
  'control_group_is_hidden',
  'only_loopback_exists',
  'writable_mounts_are_sized',
  'memory_is_limited',
  'processes_are_limited',
] as const

/** The first failed check that a supervisor names, in its own words only if they are a known name. */
export const namedCheck = (refused: readonly string[]): string => ISOLATION_CHECKS.find((check) => refused.includes(check)) ?? 'unknown'

/**
 * The isolation check that made a supervisor refuse to serve, by its exit code (`runtime-image/PROTOCOL.md`): `unknown` for a check without its own
 * code, null for the exit code of anything else.
 */
export function refusedCheck(exitCode: number | null): string | null {
  if (exitCode === null) return null
  return exitCode === REFUSED ? 'unknown' : (ISOLATION_CHECKS[exitCode - FIRST_CODE] ?? null)
}
