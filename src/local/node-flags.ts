/** Keeps Node from opening a debugger on loopback at SIGUSR1. Any user could run code in the process through it. */
export const withoutInspector = '--disable-sigusr1';

/** The environment of a process with many threads: they share two pools of native memory instead of eight for each processor. */
export const sharedPools = { MALLOC_ARENA_MAX: '2' } as const;
