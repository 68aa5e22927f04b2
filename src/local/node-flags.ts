/** Keeps Node from opening a debugger on loopback at SIGUSR1. Any user could run code in the process through it. */
export const withoutInspector = '--disable-sigusr1';

/**
 * How the C library keeps native memory in a service process. Its many threads share two pools, instead of eight for each processor, and
 * large pieces go back to the system when they are freed. An API and a worker then use 45 MiB less.
 */
export const nativeMemory = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;
