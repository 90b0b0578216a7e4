import type { Mutant } from './mutant.ts'

const SUPERVISOR = 'runtime-image/supervisor/cellblock_supervisor'

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
/** Mutants that the tests of one file kill whose titles contain `only`. */
const killedBy =
  (group: string, test: string) =>
  (protection: string, file: string, find: string, replace: string, only: string): Mutant => ({
    protection: `${group}: ${protection}`,
    edits: [{ file: `${SUPERVISOR}/${file}`, find, replace }],
    killer: { test: `tests/integration/supervisor/${test}`, only },
  })
const command = killedBy('command', 'commands.test.ts')
const output = killedBy('output', 'outputs.test.ts')
const memory = killedBy('memory', 'death.test.ts')
const selfTest = (check: string, misconfiguration: string): Mutant => ({
  protection: `self-test: ${check}`,
  edits: [{ file: `${SUPERVISOR}/isolation_checks.py`, find: `    ${check}: frozenset(("docker",)),\n`, replace: '' }],
  killer: { test: 'tests/integration/supervisor/isolation-checks.test.ts', only: `refuses ${misconfiguration} with an exit code` },
})

/** Protections of the supervisor and the worker. */
export const SANDBOX_MUTANTS: readonly Mutant[] = [
  memory(
    'shared memory counts',
    'cgroup.py',
    'return anonymous + max(0, (shared or 0) - max(before, tmpfs_usage().used))',
    'return anonymous',
    'of memory count shared memory',
  ),
  unit('removed files are no shared memory', 'cgroup.py', 'max(before, tmpfs_usage().used)', 'tmpfs_usage().used'),
  worker(
    'seccomp filter',
    'worker/isolation/seccomp.py',
    '    code = filter_code()',
    '    return',
    'network/tcp-connect',
    'system-calls/clone3',
  ),
  worker(
    'unprivileged user',
    'worker/isolation/drop_privileges.py',
    '    os.setresuid(WORKER_UID, WORKER_UID, WORKER_UID)\n',
    '',
    'privilege/setfsuid',
    'privilege/setuid-copy-of-a-shell',
  ),
  worker(
    'unprivileged group',
    'worker/isolation/drop_privileges.py',
    '    os.setresgid(WORKER_GID, WORKER_GID, WORKER_GID)\n',
    '',
    'privilege/groups-by-name',
  ),
  worker('empty groups', 'worker/isolation/drop_privileges.py', '    os.setgroups([])\n', '', 'privilege/groups-by-name'),
  worker(
    'first to be killed when memory runs out',
    'worker/isolation/drop_privileges.py',
    'os.write(score, b"1000")',
    'os.write(score, b"0")',
    'processes/own-priority-for-memory',
  ),
  worker('nice', 'worker/isolation/drop_privileges.py', '    os.nice(WORKER_PRIORITY)\n', '', 'processes/own-niceness'),
  worker(
    'limit of locked memory',
    'worker/isolation/drop_privileges.py',
    '    _limit(resource.RLIMIT_MEMLOCK, 64 * 1024)\n',
    '    _limit(resource.RLIMIT_MEMLOCK, 64 << 30)\n',
    'resources/limit-of-locked-memory',
  ),
  worker(
    'clean environment',
    'worker/isolation/environment.py',
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
  unit('socket families', 'worker/isolation/seccomp.py', '(_JUMP_EQUAL, 1, 0, _AF_UNIX)', '(_JUMP_AT_LEAST, 1, 0, _AF_UNIX)'),
  unit('namespaces by clone', 'worker/isolation/seccomp.py', '(_JUMP_ANY_BIT, 0, 1, _CLONE_NEW)', '(_JUMP_ANY_BIT, 0, 1, 0)'),
  unit(
    'no filters of sockets',
    'worker/isolation/seccomp.py',
    '(_JUMP_EQUAL, 2, 0, _SO_ATTACH_FILTER)',
    '(_JUMP_EQUAL, 3, 0, _SO_ATTACH_FILTER)',
  ),
  unit(
    'no filters of processes',
    'worker/isolation/seccomp.py',
    '(_JUMP_EQUAL, 0, 1, _PR_SET_SECCOMP)',
    '(_JUMP_EQUAL, 1, 1, _PR_SET_SECCOMP)',
  ),
  unit('other architectures', 'worker/isolation/seccomp.py', '(_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[machine])', '(_JUMP_AT_LEAST, 1, 0, 0)'),
  unit('x32 numbers', 'worker/isolation/seccomp.py', '(_JUMP_AT_LEAST, 0, 1, _X32_BIT)', '(_JUMP_AT_LEAST, 0, 1, 0xFFFF_FFFF)'),
  unit('no links followed', 'files/walk.py', 'return "symlink"', 'return None'),
  unit(
    'no hard links to files of others',
    'files/walk.py',
    'return "hardlink" if status.st_nlink > 1 and',
    'return "hardlink" if False and',
  ),
  unit('one use of a signature', 'signing.py', '            return False\n', '            return True\n'),

  unit('no link behind a file that is opened', 'files/walk.py', '_READ = os.O_RDONLY | os.O_NOFOLLOW | ', '_READ = os.O_RDONLY | '),
  unit('no link among the folders of a path', 'files/walk.py', 'os.O_DIRECTORY | os.O_NOFOLLOW | ', 'os.O_DIRECTORY | '),
  unit('bound on the bytes of names', 'files/walk.py', ' or listed_bytes > MAX_LISTED_BYTES', ''),
  unit('bound on the holes of files', 'files/tracker.py', 'if holes > holes_left:', 'if False:'),
  unit('messages are UTF-8', 'execution/json_guard.py', 'text = body.decode()', 'text = body.decode(json.detect_encoding(body))'),
  unit('a snapshot waits for its client', 'execution/kernel_link.py', ' or self._is_paused', ''),
  unit('a bounded rest after the death of a kernel', 'execution/kernel_link.py', '            left -= size\n', ''),
  unit(
    'a key of the namespace that is no name',
    'worker/snapshot/save.py',
    'if type(name) is str and name not in hidden',
    'if name not in hidden',
  ),
  unit('bound on errors', 'execution/outputs.py', 'value[:MAX_ERROR_VALUE_CHARACTERS]', 'value'),
  unit('errors count as output', 'execution/outputs.py', '        self._error_bytes += total\n', ''),
  unit('bound on all errors together', 'execution/outputs.py', '_utf8_bytes(shown) <= MAX_ERROR_BYTES', 'True'),
  unit('bundles hold text', 'execution/worker_messages.py', 'value if is_json_mime(mime) else _as_text(value)', 'value'),
  unit('a boolean is no count', 'execution/worker_messages.py', 'type(value) is int and 0 <= value < MAX_COUNT', 'isinstance(value, int)'),
  unit('metadata is an object', 'execution/worker_messages.py', 'metadata if isinstance(metadata, dict) else {}', 'metadata'),
  unit(
    'time limit of saving and restoring',
    'worker/snapshot/time_budget.py',
    '        signal.setitimer(self._which, max(_LEAST_SECONDS, self._left_seconds / 2), _REPEAT_SECONDS)\n',
    '',
  ),
  unit(
    'a forked child writes nothing into a snapshot',
    'worker/channel/channel.py',
    'into the snapshot of the kernel."""\n        self._end_if_forked()\n',
    'into the snapshot of the kernel."""\n',
  ),
  unit(
    'code that stops at an interrupt has the time for it on a busy host',
    'execution/grace_period.py',
    'min(passed, (self._cpu - before) / 1000 / _FULL_SHARE)',
    'passed',
  ),
  unit('a busy host delays a kill by seconds only', 'execution/grace_period.py', ' or self._checked_at >= self._latest_end', ''),
  command(
    'a program becomes the worker before it starts',
    'worker/zygote.py',
    '    change_identity()\n    command.main(fds)',
    '    command.main(fds)',
    'has the same confinement',
  ),
  command(
    'a child that waits for the next command is restricted',
    'worker/zygote.py',
    '    restrict(limits)\n    received',
    '    received',
    'has the same confinement',
  ),
  command(
    'a stop ends the whole session',
    'execution/worker_processes.py',
    '_kill_until_none(lambda alive: _of_command(alive, command, since_ticks, spared))',
    'send(command, signal.SIGKILL)',
    'is stopped at its time limit',
  ),
  command(
    'a stop ends what has left the session',
    'execution/worker_processes.py',
    'and oldest.started >= since_ticks',
    'and False',
    'is stopped with the processes that left its session',
  ),
  command(
    'a stop spares the kernel and other commands',
    'execution/worker_processes.py',
    ' or oldest.session in spared_sessions',
    '',
    'is stopped with the processes that left its session',
  ),
  output(
    'bound on the events of alternating streams',
    'execution/outputs.py',
    '            self._stream_changes_left -= 1\n',
    '',
    'changes between the two streams',
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
  {
    protection: "worker: a forked child takes no packet of the kernel's snapshot",
    edits: [
      {
        file: `${SUPERVISOR}/worker/channel/channel.py`,
        find: 'would take parts of the snapshot.\n        """\n        self._end_if_forked()\n',
        replace: 'would take parts of the snapshot.\n        """\n',
      },
    ],
    killer: { test: 'tests/integration/supervisor/namespace.test.ts', only: 'may fork: the children end' },
  },
  {
    protection: 'worker: only the kernel replies, not a child that a cell forked',
    edits: [
      {
        file: `${SUPERVISOR}/worker/kernel/request_server.py`,
        find: '        if self._channel.is_forked:\n',
        replace: '        if False:\n',
      },
    ],
    killer: { test: 'tests/integration/supervisor/executions.test.ts', only: 'a forked child that reaches the end of the cell' },
  },
  selfTest('kernel_interfaces_are_closed', 'unmasked kernel settings'),
  selfTest('control_group_is_hidden', "the host's control groups"),
  {
    protection: 'worker: nothing written outside its folders',
    edits: [{ file: `${SUPERVISOR}/worker/isolation/drop_privileges.py`, find: '    landlock.confine_writes()\n', replace: '' }],
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
  {
    protection: 'supervisor: other processors than those of many processes',
    edits: [
      {
        file: `${SUPERVISOR}/execution/processors.py`,
        find: '    _set_own(turned[limit:])\n',
        replace: '',
      },
    ],
    killer: {
      test: 'tests/integration/supervisor/isolation-checks.test.ts',
      only: 'many processes and the supervisor have different processors',
    },
  },
  {
    protection: 'supervisor: all processors again after many processes',
    edits: [
      {
        file: `${SUPERVISOR}/execution/fork_bomb_monitor.py`,
        find: '            processors.share()\n',
        replace: '            pass\n',
      },
    ],
    killer: {
      test: 'tests/integration/supervisor/isolation-checks.test.ts',
      only: 'many processes and the supervisor have different processors',
    },
  },
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
        file: `${SUPERVISOR}/execution/job.py`,
        find: '        outcome = self._outcome()\n',
        replace: '        outcome = getattr(self, "_forged", None) or self._outcome()\n',
      },
    ],
    killer: { programs: ['kernel-channel/forged-reply-that-claims-the-envelope'] },
  },
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
  unit('skills that only root changes', 'skills.py', '0o755 if executable else 0o644)', '0o777 if executable else 0o666)'),
]
