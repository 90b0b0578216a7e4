import type { Edit } from '../copy-project.ts'

const OPTIONS = 'services/adapters/drivers/docker/container-options.ts'
const SUPERVISOR = 'runtime-image/supervisor/cellblock_supervisor'

/** Lets the supervisor accept work although its self-test would fail. */
export const SELF_TEST_DISABLED: Edit = {
  file: `${SUPERVISOR}/isolation_checks.py`,
  find: '    failed = await _probe(kernel)',
  replace: '    return []\n    failed = await _probe(kernel)',
}

/**
 * Disables every protection at once: bridge network and DNS through its gateway, the host's flag file and a fake engine socket mounted, root with the
 * engine's default capabilities, no seccomp filter, no Landlock, the host's environment. No configuration can do this; it takes edits of the source.
 */
export const DISABLED_PROTECTIONS: readonly Edit[] = [
  SELF_TEST_DISABLED,
  {
    file: OPTIONS,
    find: "NetworkMode: 'none',",
    replace: "NetworkMode: 'bridge', Dns: [String(process.env['CELLBLOCK_CONTROL_GATEWAY'])],",
  },
  { file: OPTIONS, find: 'NetworkDisabled: plan.controlFolder !== undefined,', replace: '' },
  { file: OPTIONS, find: "CapDrop: ['ALL'],", replace: 'CapDrop: [],' },
  { file: OPTIONS, find: "'no-new-privileges', `seccomp=${plan.seccompProfile}`", replace: "'seccomp=unconfined'" },
  { file: OPTIONS, find: 'ReadonlyRootfs: true', replace: 'ReadonlyRootfs: false' },
  {
    file: OPTIONS,
    find: '    ...(plan.readOnlyBinds && {',
    replace:
      "    Binds: [`${process.env['CELLBLOCK_CONTROL_FOLDER']}:${process.env['CELLBLOCK_CONTROL_FOLDER']}`, `${process.env['CELLBLOCK_CONTROL_FOLDER']}/docker.sock:/var/run/docker.sock`],\n    ...(plan.readOnlyBinds && {",
  },
  {
    file: OPTIONS,
    find: '  CELLBLOCK_SANDBOX_ID: spec.sandboxId,',
    replace: "  CELLBLOCK_CANARY_SECRET: String(process.env['CELLBLOCK_CANARY_SECRET']),\n  CELLBLOCK_SANDBOX_ID: spec.sandboxId,",
  },
  { file: `${SUPERVISOR}/worker/isolation/seccomp.py`, find: '    code = filter_code()', replace: '    return' },
  { file: `${SUPERVISOR}/worker/isolation/drop_privileges.py`, find: '    landlock.confine_writes()\n', replace: '' },
  {
    file: `${SUPERVISOR}/worker/isolation/drop_privileges.py`,
    find: '    os.setresuid(WORKER_UID, WORKER_UID, WORKER_UID)\n',
    replace: '',
  },
  {
    file: `${SUPERVISOR}/worker/isolation/drop_privileges.py`,
    find: '    os.setresgid(WORKER_GID, WORKER_GID, WORKER_GID)\n',
    replace: '',
  },
  {
    file: `${SUPERVISOR}/worker/isolation/drop_privileges.py`,
    find: '    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)',
    replace: '    return',
  },
  // A change of the effective user also hides the memory.
  {
    file: `${SUPERVISOR}/worker/isolation/drop_privileges.py`,
    find: '    os.setegid(WORKER_GID)\n    os.seteuid(WORKER_UID)\n',
    replace: '',
  },
  {
    file: `${SUPERVISOR}/execution/worker_processes.py`,
    find: '        os.setresuid(0, 0, 0)\n',
    replace: '        os.setresuid(0, 0, 0)\n        __import__("ctypes").CDLL(None).prctl(4, 1, 0, 0, 0)\n',
  },
  {
    file: `${SUPERVISOR}/worker/isolation/environment.py`,
    find: '    return {\n',
    replace: '    return {\n        **__import__("os").environ,\n',
  },
]
