#!/bin/sh
# The engine's runtime: gVisor's runsc, which also resumes. The engine calls it with options, `start` and the container's id. If the container has a checkpoint to
# resume, its processes are restored instead; they continue while their memory is still being read (docs/adr/0075-processes-in-checkpoints.md).
runsc='@RUNSC@'
checkpoints=/var/lib/cellblock/checkpoints

command=
container=
for argument; do
  command=$container
  container=$argument
done
image="$checkpoints/$container/next-start"
[ "$command" = start ] && [ -d "$image" ] || exec "$runsc" "$@"

# Leaves the options.
count=$(($# - 2))
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  set -- "$@" "$argument"
  count=$((count - 1))
done
shift 2
exec "$runsc" "$@" restore --detach --background --image-path "$image" "$container"
