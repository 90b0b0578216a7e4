#!/bin/sh
# The engine's runtime: gVisor's runsc, which also resumes. The engine calls it with options, `create` or `start`, and the container's id. If the container has a
# checkpoint to resume, its creation restores its processes, and its start has nothing left to do: one program is started instead of two. The processes continue
# while their memory is still being read (docs/adr/0075-processes-in-checkpoints.md).
runsc='@RUNSC@'
checkpoints=/var/lib/cellblock/checkpoints

command=
container=
for argument; do
  case $argument in create | start) command=$argument ;; esac
  container=$argument
done
image="$checkpoints/$container/next-start"
resumed="$checkpoints/$container/resumed"

# Left by a creation whose start never came.
[ "$command" = create ] && [ -e "$resumed" ] && rm "$resumed"
if [ "$command" = create ] && [ -d "$image" ]; then
  for argument; do
    shift
    if [ "$argument" = create ]; then
      set -- "$@" restore --detach --background --image-path "$image"
    else
      set -- "$@" "$argument"
    fi
  done
  "$runsc" "$@" || exit
  : > "$resumed"
elif [ "$command" = start ] && [ -e "$resumed" ]; then
  rm "$resumed"
else
  exec "$runsc" "$@"
fi
