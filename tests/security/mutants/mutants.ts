import type { Edit } from './copy-project.ts'

/** A removed protection and what must fail then: programs of the corpus, a test file, or the tests of it whose titles contain `only`. */
export interface Mutant {
  readonly protection: string
  readonly edits: readonly Edit[]
  readonly killer: { readonly programs: readonly string[] } | { readonly test: string; readonly only?: string }
}

const OPTIONS = 'services/orchestrator/drivers/docker/container-options.ts'
const SUPERVISOR = 'runtime-image/supervisor/cellblock_supervisor'

const option = (protection: string, find: string, replace = ''): Mutant => ({
  protection: `engine: ${protection}`,
  edits: [{ file: OPTIONS, find, replace }],
  killer: { test: 'tests/security/runtime-checks.test.ts' },
})
const worker = (protection: string, file: string, find: string, replace: string, ...programs: readonly string[]): Mutant => ({
  protection: `worker: ${protection}`,
  edits: [{ file: `${SUPERVISOR}/${file}`, find, replace }],
  killer: { programs },
})
const unit = (protection: string, file: string, find: string, replace: string): Mutant => ({
  protection: `supervisor: ${protection}`,
  edits: [{ file: `${SUPERVISOR}/${file}`, find, replace }],
  killer: { test: 'tests/integration/supervisor/python-units.test.ts' },
})
const command = (protection: string, file: string, find: string, replace: string, only: string): Mutant => ({
  protection: `command: ${protection}`,
  edits: [{ file: `${SUPERVISOR}/${file}`, find, replace }],
  killer: { test: 'tests/integration/supervisor/commands.test.ts', only },
})
const selfTest = (check: string, misconfiguration: string): Mutant => ({
  protection: `self-test: ${check}`,
  edits: [{ file: `${SUPERVISOR}/isolation_checks.py`, find: `    ${check}: frozenset(("docker",)),\n`, replace: '' }],
  killer: { test: 'tests/integration/supervisor/isolation-checks.test.ts', only: `refuses ${misconfiguration} with code 86` },
})
const service = (protection: string, file: string, find: string, replace: string, test: string): Mutant => ({
  protection: `service: ${protection}`,
  edits: [{ file: `services/${file}`, find, replace }],
  killer: { test: `tests/${test}` },
})

export const MUTANTS: readonly Mutant[] = [
  option('no network', "NetworkMode: 'none',"),
  option('read-only root', 'ReadonlyRootfs: true', 'ReadonlyRootfs: false'),
  option('capabilities dropped', "CapDrop: ['ALL'],"),
  option('three capabilities only', "CapAdd: ['SETUID', 'SETGID', 'KILL']", "CapAdd: ['SETUID', 'SETGID', 'KILL', 'SYS_PTRACE']"),
  option('no new privileges', "'no-new-privileges', "),
  option('seccomp profile', ', `seccomp=${plan.seccompProfile}`'),
  option('process limit', 'PidsLimit: limits.processes,'),
  option('memory limit', 'Memory: memory,\n'),
  option('no swap', 'MemorySwap: memory,\n'),
  option('processor limit', 'NanoCpus: Math.round(limits.cpus * 1e9),'),
  option('first to be killed when memory runs out', 'OomScoreAdj: 500,'),
  option('no log', "LogConfig: { Type: 'none', Config: {} },"),
  option('no core files', ', Soft: 0, Hard: 0 }', ', Soft: 1, Hard: 1 }'),
  option('limit of open files', "{ Name: 'nofile', Soft: limits.openFiles, Hard: limits.openFiles },"),
  option('private shared memory', "IpcMode: 'private',", "IpcMode: 'shareable',"),
  option('size of shared memory', 'size=${limits.shmBytes},'),
  option('shared memory freed with its last process', "Sysctls: { 'kernel.shm_rmid_forced': '1' },"),
  option('a user id for each sandbox', 'CELLBLOCK_WORKER_UID: String(workerUid),'),
  option('hidden counters of the host', ', ...HOST_COUNTERS]', ']'),
  option('hidden control group', "CgroupnsMode: 'private',", "CgroupnsMode: 'host' as 'private',"),
  option('size of the data folder', 'size=${limits.dataBytes},'),
  option('size of /tmp', 'size=${limits.tmpBytes},'),
  option('inodes of the home folder', ',nr_inodes=50000'),
  service(
    'a small control folder without programs, devices and setuid bits',
    'orchestrator/drivers/docker/control-folder.ts',
    '  await mountControlFolder(folder)\n',
    '',
    'security/runtime-checks.test.ts',
  ),

  worker(
    'seccomp filter',
    'worker/seccomp.py',
    '    lines = program(platform.machine())',
    '    return',
    'network/tcp-connect',
    'system-calls/clone3',
  ),
  worker(
    'unprivileged user',
    'worker/drop_privileges.py',
    '    os.setresuid(WORKER_UID, WORKER_UID, WORKER_UID)\n',
    '',
    'privilege/setfsuid',
    'privilege/setuid-copy-of-a-shell',
  ),
  worker(
    'unprivileged group',
    'worker/drop_privileges.py',
    '    os.setresgid(WORKER_GID, WORKER_GID, WORKER_GID)\n',
    '',
    'privilege/groups-by-name',
  ),
  worker('empty groups', 'worker/drop_privileges.py', '    os.setgroups([])\n', '', 'privilege/groups-by-name'),
  worker(
    'first to be killed when memory runs out',
    'worker/drop_privileges.py',
    'file.write("1000")',
    'file.write("0")',
    'processes/own-priority-for-memory',
  ),
  {
    protection: 'worker: nothing written outside its folders',
    edits: [{ file: `${SUPERVISOR}/worker/drop_privileges.py`, find: '    landlock.confine_writes()\n', replace: '' }],
    killer: { test: 'tests/integration/supervisor/isolation-checks.test.ts', only: 'writes only below its folders' },
  },
  {
    protection: 'supervisor: lowest scheduling class for many processes',
    edits: [
      {
        file: `${SUPERVISOR}/execution/fork_bomb_monitor.py`,
        find: '            worker_processes.set_idle_scheduling()\n',
        replace: '            pass\n',
      },
    ],
    killer: { test: 'tests/integration/supervisor/isolation-checks.test.ts', only: 'many processes run in SCHED_IDLE' },
  },
  worker('nice', 'worker/drop_privileges.py', '    os.nice(19)\n', '', 'processes/own-niceness'),
  worker(
    'limit of locked memory',
    'worker/drop_privileges.py',
    '    _limit(resource.RLIMIT_MEMLOCK, 64 * 1024)\n',
    '    _limit(resource.RLIMIT_MEMLOCK, 64 << 30)\n',
    'resources/limit-of-locked-memory',
  ),
  worker(
    'clean environment',
    'worker/environment.py',
    '    return {\n',
    '    return {\n        **__import__("os").environ,\n',
    'information/public-key-only',
    'information/environment',
  ),

  worker(
    "the zygote's socket closed in kernels",
    'worker/zygote.py',
    '            os.close(self._control.fileno())\n',
    '',
    'kernel-channel/forged-death-of-the-kernel',
  ),
  {
    protection: 'worker: the kernel cannot set the result envelope',
    edits: [
      {
        file: `${SUPERVISOR}/execution/execution.py`,
        find: '            failed = not reply.ok\n',
        replace: '            failed = not reply.ok\n            self._forged = reply.outcome\n',
      },
      {
        file: `${SUPERVISOR}/execution/kernel_host.py`,
        find: 'self._reply.set_result(parse_reply(message))',
        replace:
          'reply = parse_reply(message)\n                object.__setattr__(reply, "outcome", message.get("outcome"))\n                self._reply.set_result(reply)',
      },
      {
        file: `${SUPERVISOR}/execution/execution.py`,
        find: '        outcome = self._outcome()\n',
        replace: '        outcome = getattr(self, "_forged", None) or self._outcome()\n',
      },
    ],
    killer: { programs: ['kernel-channel/forged-reply-that-claims-the-envelope'] },
  },

  unit('socket families', 'worker/seccomp.py', '(_JUMP_EQUAL, 1, 0, _AF_UNIX)', '(_JUMP_AT_LEAST, 1, 0, _AF_UNIX)'),
  unit('namespaces by clone', 'worker/seccomp.py', '(_JUMP_ANY_BIT, 0, 1, _CLONE_NEW)', '(_JUMP_ANY_BIT, 0, 1, 0)'),
  unit('no filters of sockets', 'worker/seccomp.py', '(_JUMP_EQUAL, 2, 0, _SO_ATTACH_FILTER)', '(_JUMP_EQUAL, 3, 0, _SO_ATTACH_FILTER)'),
  unit('no filters of processes', 'worker/seccomp.py', '(_JUMP_EQUAL, 0, 1, _PR_SET_SECCOMP)', '(_JUMP_EQUAL, 1, 1, _PR_SET_SECCOMP)'),
  unit('other architectures', 'worker/seccomp.py', '(_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[machine])', '(_JUMP_AT_LEAST, 1, 0, 0)'),
  unit('x32 numbers', 'worker/seccomp.py', '(_JUMP_AT_LEAST, 0, 1, _X32_BIT)', '(_JUMP_AT_LEAST, 0, 1, 0xFFFF_FFFF)'),
  unit('no links followed', 'files/walk.py', 'return "symlink"', 'return None'),
  unit('no hard links', 'files/walk.py', 'return "hardlink" if status.st_nlink != 1 else None', 'return None'),
  unit('one use of a signature', 'signing.py', '            return False\n', '            return True\n'),

  unit('no link behind a file that is opened', 'files/walk.py', '_READ = os.O_RDONLY | os.O_NOFOLLOW | ', '_READ = os.O_RDONLY | '),
  unit('no link among the folders of a path', 'files/walk.py', 'os.O_DIRECTORY | os.O_NOFOLLOW | ', 'os.O_DIRECTORY | '),
  unit('bound on errors', 'execution/outputs.py', 'value[:MAX_ERROR_VALUE_CHARACTERS]', 'value'),
  unit('errors count as output', 'execution/outputs.py', '        self._error_bytes += total\n', ''),
  unit('bound on all errors together', 'execution/outputs.py', '_utf8_bytes(shown) <= MAX_ERROR_BYTES', 'True'),
  unit('bundles hold text', 'execution/worker_messages.py', 'value if is_json_mime(mime) else _as_text(value)', 'value'),
  unit('a boolean is no count', 'execution/worker_messages.py', 'type(value) is int and 0 <= value < MAX_COUNT', 'isinstance(value, int)'),
  unit('metadata is an object', 'execution/worker_messages.py', 'metadata if isinstance(metadata, dict) else {}', 'metadata'),
  unit(
    'time limit of saving and restoring',
    'worker/time_budget.py',
    '        signal.setitimer(self._which, max(_LEAST_SECONDS, self._left_seconds / 2), _REPEAT_SECONDS)\n',
    '',
  ),
  {
    protection: 'supervisor: a kernel that saves for too long is killed',
    edits: [
      {
        file: `${SUPERVISOR}/execution/namespace.py`,
        find: '            self.is_exceeded = True\n            self._kernel.kill()\n',
        replace: '            self.is_exceeded = True\n',
      },
    ],
    killer: { test: 'tests/integration/supervisor/namespace.test.ts', only: 'ends a restore at its time limit' },
  },
  command(
    'a program becomes the worker before it starts',
    'worker/zygote.py',
    '    become_worker(limits)\n    command.main(fds)',
    '    command.main(fds)',
    'has the same confinement',
  ),
  command(
    'a stop ends the whole session',
    'execution/worker_processes.py',
    '_kill_until_none(lambda of: of == session)',
    'send(session, signal.SIGKILL)',
    'is stopped at its time limit',
  ),
  command(
    'a kernel that is replaced spares commands',
    'execution/kernel_host.py',
    'worker_processes.kill_all(frozenset() if self._killed_for_memory else self.spared_sessions())',
    'worker_processes.kill_all()',
    'survives a kernel that is killed',
  ),
  command(
    'each number of the input is applied once',
    'execution/command_input.py',
    '            if entry.seq != self.through + 1:\n                continue\n',
    '',
    'applies each numbered entry',
  ),
  selfTest('kernel_interfaces_are_closed', 'unmasked kernel settings'),
  selfTest('control_group_is_hidden', "the host's control groups"),

  service(
    'control characters in names',
    'core/files/file-path.ts',
    'if (FORBIDDEN.test(path))',
    'if (false)',
    'unit/core/file-path.test.ts',
  ),
  // Two rules refuse "." and ".."; this edit removes the rule that the other does not cover.
  service('dots at the end of names', 'core/files/file-path.ts', 'if (/[. ]$/.test(segment))', 'if (false)', 'unit/core/file-path.test.ts'),
  service(
    'length of names',
    'core/files/file-path.ts',
    'encoder.encode(path).length > LIMITS.maxPathBytes',
    'false',
    'unit/core/file-path.test.ts',
  ),
  service(
    "names that are JavaScript's own",
    'core/files/mime.ts',
    '(Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined)',
    'TYPES[ending]',
    'unit/core/mime.test.ts',
  ),
  service(
    'no link inside an HTML tag of an answer',
    'chat/answer/link-context.ts',
    '(this.#tag & ~TAG_OPENED) !== 0 || ',
    '',
    'unit/chat/answer-links.test.ts',
  ),
  service(
    'no link inside the target of another link',
    'chat/answer/link-context.ts',
    'return this.#isTargetStart ? ',
    'return true ? ',
    'unit/chat/answer-links.test.ts',
  ),
  service(
    'no link to a file of another turn that is not the whole target',
    'chat/answer/answer-text.ts',
    " || (segment.place === 'bare' && !file.isFresh)",
    '',
    'unit/chat/answer-links.test.ts',
  ),
  service('host names', 'api/middleware/trusted-hosts.ts', '!names.has(name) && ', 'false && ', 'api/hosts/hosts.test.ts'),
  service(
    'origins of pages',
    'api/middleware/cross-origin.ts',
    'return !config.corsOrigins.includes(origin) && !isOwn(origin, req.raw, config)',
    'return false',
    'api/hosts/hosts.test.ts',
  ),
  service(
    'requests of pages without an origin',
    'api/middleware/cross-origin.ts',
    "(site === 'cross-site' || site === 'same-site')",
    'false',
    'api/hosts/hosts.test.ts',
  ),
  service(
    'no body before the key',
    'local/http-server.ts',
    '    continueOnRead(request, response)\n',
    '    response.writeContinue()\n',
    'api/bad-input/unread-bodies.test.ts',
  ),
  service(
    'no images of private networks',
    'api/wires/openai/image-urls.ts',
    "return !PRIVATE.check(host, 'ipv4')",
    'return true',
    'api/responses/image-urls.test.ts',
  ),
  service(
    'links of other tenants',
    'api/wires/native/links/routes.ts',
    '  if (tenant !== caller.tenant) return false\n',
    '',
    'api/links/links-with-key.test.ts',
  ),
  {
    protection: 'service: no control sequences in a terminal',
    edits: [{ file: 'packages/cli/src/plain-text.ts', find: 'if (COLOUR.test(match[0]))', replace: 'if (true)' }],
    killer: { test: 'tests/unit/cli/plain-text.test.ts' },
  },
  service(
    'small answers',
    'api/wires/native/executions/inline-outputs.ts',
    'if (piece.bytes > budget.bytes) continue',
    '',
    'api/get-execution/large-outputs.test.ts',
  ),
  service(
    'memory for results',
    'api/executions/result-budget.ts',
    'inFlight > 0 && inFlight + bytes > maxBytes',
    'false',
    'api/get-execution/429.test.ts',
  ),
  service('revoked keys', 'api/http/authenticate.ts', ' || found.revokedAt !== null', '', 'unit/api/authenticate.test.ts'),
  service(
    'subject check',
    'api/access.ts',
    'caller.subject === null || row.subject === caller.subject',
    'true',
    'api/auth/foreign-ids.test.ts',
  ),
  service(
    'tenant in keys',
    'storage/rows/keys.ts',
    'pk: `T#${part(tenant)}#${name}#${part(id)}`',
    'pk: `T#${part(tenant).slice(0, 1)}#${name}#${part(id)}`',
    'api/auth/foreign-ids.test.ts',
  ),
  service('fencing', 'storage/rows/leased-store.ts', "all(isLive, equals('fence', fence))", 'isLive', 'contract/dynamodb-table.test.ts'),
  service('lease', 'storage/rows/leased-store.ts', '[isFree]', '[]', 'contract/dynamodb-table.test.ts'),
  service(
    'values of a MIME bundle are text or JSON',
    'core/executions/event-schema.ts',
    'z.record(z.string(), z.unknown()).transform(normalizeBundle)',
    'z.record(z.string(), z.unknown())',
    'unit/orchestrator/hostile-events.test.ts',
  ),
  service(
    'errors count like displays',
    'orchestrator/supervisor-client/output-budget.ts',
    "this.#count('error', bytes, this.#fitsRich(bytes)) ? event : null",
    'event',
    'unit/orchestrator/hostile-events.test.ts',
  ),
  service(
    'depth of JSON',
    'orchestrator/supervisor-client/hostile-json.ts',
    'if (++depth > limit) return true',
    '++depth',
    'unit/orchestrator/hostile-json.test.ts',
  ),
  service(
    'prototype keys',
    'orchestrator/supervisor-client/hostile-json.ts',
    "key === '__proto__' ? undefined : value",
    'value',
    'unit/orchestrator/hostile-json.test.ts',
  ),
  service(
    'identity of a sandbox',
    'orchestrator/supervisor-client/identity.ts',
    'health.sandboxId !== session.sandboxId',
    'false',
    'unit/orchestrator/supervisor-client.test.ts',
  ),
]
