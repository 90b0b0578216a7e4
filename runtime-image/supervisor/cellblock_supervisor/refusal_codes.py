"""The exit code of a refusal names the check that failed first: a platform without logs shows the code of a task that ended."""

from .config import EXIT_REFUSED

# Above the codes of signals (128 + 64). The position decides the code: append only. `services/model/sandboxes/isolation-checks.ts` has the same list.
_FIRST_CODE = 193
_CHECKS = (
    "unix_socket_opens",
    "no_other_socket_opens",
    "dangerous_calls_are_refused",
    "namespaces_are_refused",
    "supervisor_memory_is_closed",
    "supervisor_details_are_closed",
    "supervisor_cannot_be_signalled",
    "only_worker_folders_are_writable",
    "oom_score_is_fixed",
    "data_folder_is_writable",
    "control_socket_is_unreachable",
    "environment_holds_no_secret",
    "no_privilege_is_left",
    "root_cannot_be_regained",
    "engine_socket_is_absent",
    "foreign_architectures_are_refused",
    "own_filters_are_refused",
    "terminals_are_closed",
    "worker_has_a_name",
    "devices_are_harmless",
    "seccomp_filter_is_permanent",
    "worker_could_not_be_created",
    "probe_timed_out",
    "supervisor_is_process_1",
    "supervisor_has_only_its_capabilities",
    "capabilities_are_not_dangerous",
    "no_new_privileges_is_set",
    "engine_seccomp_is_on",
    "root_file_system_is_read_only",
    "kernel_interfaces_are_closed",
    "control_group_is_hidden",
    "only_loopback_exists",
    "writable_mounts_are_sized",
    "memory_is_limited",
    "processes_are_limited",
)
REFUSAL_CODES = {name: _FIRST_CODE + index for index, name in enumerate(_CHECKS)}


def refusal_code(failed: list[str]) -> int:
    """For the names of the failed checks; 86 when the first has no code."""
    return REFUSAL_CODES.get(failed[0], EXIT_REFUSED) if failed else EXIT_REFUSED
