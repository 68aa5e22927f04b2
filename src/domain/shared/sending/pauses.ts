/**
 * The pause after a failed try, by the number of tries so far; null after the last one. It varies by a tenth, so that what failed together
 * is not all tried again at the same time.
 */
export function pauseOf(pausesMs: readonly number[], attempts: number, random = Math.random()): number | null {
  const pause = pausesMs[attempts - 1];
  return pause === undefined ? null : Math.round(pause * (1 + random / 10));
}
