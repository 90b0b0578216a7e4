/**
 * Programs that end otherwise on gVisor than under the engine's default runtime, by what gVisor does instead. None of them touches a tripwire or prints a canary
 * there, which is checked as for every program. docs/threat-model.md says what the groups mean for an operator.
 */
const BY_REASON: Readonly<Record<string, readonly string[]>> = {
  'refuses or permits the call with another result, inside its own kernel': [
    'system-calls/personality-read-implies-exec',
    'system-calls/vmsplice',
    'system-calls/robust-list-of-process-1',
    'system-calls/deadline-schedule',
    'namespaces/setns-of-init',
    'privilege/setfsuid',
    'privilege/ambient-capability',
    'host-files/openat2',
    'kernel-channel/an-empty-packet',
    'kernel-channel/lease-on-a-file',
    'binaries/memfd-program',
    'channels/inotify-of-system-folders',
    'published/page-zero-CVE-2009-1897',
    'user-counters/timers-that-wake-the-machine',
    'user-counters/console-redirected',
    'deaths/kill-1',
  ],
  'has no such file of /proc, /sys or /dev, or shows its own': [
    'network/interfaces',
    'processes/stack-of-process-1',
    'processes/system-call-of-process-1',
    'devices/tun',
    'devices/kernel-log',
    'devices/fuse',
    'devices/every-device-node',
    'information/container-id-in-mounts',
    'information/kernel-symbols',
    'supervisor/inherited-descriptors',
    'channels/system-v-shared-memory',
    'channels/locks-of-the-host',
    'user-counters/semaphores-that-outlive-the-kernel',
    'user-counters/messages-that-outlive-the-kernel',
    'user-counters/shared-memory-that-outlives-the-kernel',
    'user-counters/counters-of-files-of-the-host',
    'user-counters/pressure-of-the-host',
  ],
  'counts for each sandbox what Linux counts for the host': [
    'channels/message-queue-of-system-v',
    'channels/posix-message-queue',
    'user-counters/inotify-instances-until-the-limit',
    'user-counters/bytes-of-message-queues',
    'user-counters/undo-lists-of-semaphores',
    'user-counters/descriptors-in-flight',
  ],
  'lets the worker change priorities inside the sandbox': [
    'processes/priority-of-the-kernel-for-memory',
    'processes/own-priority-for-memory',
    'privilege/better-priority',
  ],
  'ends the sandbox instead of the cell, because the limit is that of its process on the host': [
    'resources/fork-bomb',
    'resources/heap',
    'resources/anonymous-mapping',
    'user-counters/epoll-watches-in-many-processes',
  ],
  'has no such limit': ['resources/inodes', 'resources/segments-of-system-v-beyond-the-tier'],
  'keeps the variable with its process, because the container is suspended': [
    'saved-state/reduce-without-an-end',
    'saved-state/restore-that-forks',
    'saved-state/reduce-that-forks',
  ],
}

/** What gVisor does instead, by the id of the program. */
export const GVISOR_DIFFERENCES: ReadonlyMap<string, string> = new Map(
  Object.entries(BY_REASON).flatMap(([reason, ids]) => ids.map((id): [string, string] => [id, reason])),
)
