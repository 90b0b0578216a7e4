/** A word or phrase that the project does not use, because a reader has to guess its meaning. */
export interface ForbiddenTerm {
  /** Alternatives, separated by `|`. A space matches a line break and the marker of a comment as well. */
  readonly term: string
  readonly instead: string
  /** A line that matches is accepted: the term has a technical meaning there. */
  readonly allowed?: RegExp
}

/** Parts of identifiers count as words: `nudgeHead` contains "nudge". */
export const FORBIDDEN_TERMS: readonly ForbiddenTerm[] = [
  // Unnamed subjects.
  { term: 'nobody', instead: 'name the subject ("no worker"), or "none"', allowed: /nobody:|user nobody|'nobody'|"nobody"/ },
  { term: 'somebody', instead: 'name the subject ("a worker", "the client")' },
  { term: 'whoever|whomever', instead: 'name the subject ("the worker that …")' },
  { term: 'stranger|strangers', instead: 'another tenant, an unknown client' },
  { term: 'other people', instead: 'third-party' },
  // Archaic words.
  { term: 'anew|afresh|once more', instead: 'again' },
  { term: 'mend|mends|mended|mending', instead: 'fix, repair' },
  { term: 'shall', instead: 'must, will' },
  { term: 'lest|thereof|thereupon|whereupon|hitherto|henceforth|whilst|ere|hence', instead: 'so that … not, therefore, until now, while' },
  { term: 'for good', instead: 'permanently' },
  { term: 'all the same', instead: 'anyway, nevertheless', allowed: /(are|were|be|is) all the same/ },
  { term: 'as ever', instead: 'as before, unchanged' },
  { term: 'in vain', instead: 'without effect' },
  // Riddles: phrases that name no mechanism.
  { term: 'is told|are told|was told|were told|be told|been told|told', instead: 'receives, is recorded, is reported' },
  { term: 'is said|are said|was said|were said|be said', instead: 'is reported, is documented' },
  { term: 'tell apart|tells apart|telling apart', instead: 'distinguish' },
  { term: 'lets go|let go|letting go', instead: 'releases' },
  { term: 'goes on|go on|went on|going on|gone on', instead: 'continues' },
  { term: 'of its own|of their own|of his own', instead: 'its own, separate, dedicated' },
  { term: 'word for word', instead: 'verbatim' },
  { term: 'a look|looks at|look at|looked at|looking at', instead: 'reads, checks, examines' },
  { term: 'looks', instead: 'checks, polls, probes', allowed: /looks[ _](for|up|like|it up|nothing up|a price up)/i },
  { term: 'put off|puts off|putting off', instead: 'postpone, reschedule' },
  { term: 'usual', instead: 'default, standard, typical' },
  { term: 'fact|facts', instead: 'event, payload, value; name what it is' },
  { term: 'stand still|stands still|stood still|standing still', instead: 'stalls, hangs' },
  { term: 'runs wild|run wild|gone wild', instead: 'runaway (process)' },
  { term: 'falls asleep|fall asleep|asleep', instead: 'hibernates, hibernated' },
  { term: 'gives way|give way|gave way', instead: 'fails, is broken' },
  // Words of moods, characters and places.
  { term: 'nudge|nudges|nudged', instead: 'hint, notify, enqueue' },
  { term: 'crew|crews', instead: 'worker pool', allowed: /CrewAI/ },
  { term: 'courier|couriers', instead: 'queue', allowed: /font/i },
  { term: 'crowd|crowds', instead: 'many processes, fork bomb' },
  { term: 'patience|patiently', instead: 'timeout, retries' },
  { term: 'laptop|laptops', instead: 'one machine, local machine' },
  { term: 'room|rooms', instead: 'layer, folder, service; space' },
  {
    term: 'wall|walls',
    instead: 'isolation layer, protection',
    allowed: /wall[ _-]?(clock|time|limit|ms|seconds)|firewall|Walls('|Sandbox|Run|\$\{)/i,
  },
  { term: 'arena|arenas', instead: 'harness', allowed: /MALLOC_ARENA/ },
  { term: 'scene|scenes', instead: 'fixture, scenario' },
  { term: 'referee|referees', instead: 'client compatibility test' },
  { term: 'letter|letters', instead: 'message', allowed: /dead[- _]?letter|digit|alphabet|capital|lower|upper|[Ll]etters? \(?[Aa]/i },
  { term: 'stray|strays', instead: 'orphan' },
  { term: 'bury|buries|buried|burying', instead: 'move to the dead-letter queue, end as failed' },
  { term: 'wish|wishes|wished', instead: 'request' },
  { term: 'surroundings', instead: 'environment, context' },
  { term: 'sabotage|sabotages|sabotaged', instead: 'misconfigured, removed protection' },
  { term: 'refusals', instead: 'errors' },
  { term: 'reap|reaps|reaped|reaping|reaper', instead: 'remove, delete', allowed: /process|child|_reap|REAP_/i },
  { term: 'retell|retells|retold', instead: 'replay, synthesize' },
  { term: 'fence number|fencing number|fence numbers|fencing numbers', instead: 'fencing token' },
]
