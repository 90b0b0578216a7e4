/** The arguments of a login shell that runs one command line. */
export const shellCommand = (line: string): readonly string[] => ['/bin/bash', '-lc', line]
