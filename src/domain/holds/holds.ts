import { type FreezeWindow, findFreeze } from '#domain/environments/freeze-windows.ts';
import type { HoldBlocker, HoldCode, StoredHold } from '#domain/shared/vocabulary/holds.ts';
import { activeHold } from './model.ts';

/** The stored holds that may keep the applies of a run from starting. */
export interface HoldFacts {
  readonly pause: StoredHold | null;
  /** Null: the run has no environment, or the environment is not locked. */
  readonly lock: StoredHold | null;
  readonly windows: readonly FreezeWindow[] | null;
}

/** What keeps an apply from starting now. */
export interface Hold {
  readonly code: HoldCode;
  /** RFC 3339. */
  readonly since: string;
  readonly blocker: HoldBlocker;
}

/** What keeps applies from starting now, the widest first; null if nothing does. Pure. */
export function findHold({ pause, lock, windows }: HoldFacts, now: Date): Hold | null {
  const [paused, locked] = [activeHold(pause, now), activeHold(lock, now)];
  if (paused) return { code: 'paused', since: paused.since, blocker: describe(paused) };
  if (locked) return { code: 'locked', since: locked.since, blocker: describe(locked) };
  const freeze = findFreeze(windows ?? [], now);
  if (!freeze) return null;
  const { name, reason } = freeze.window;
  return { code: 'frozen', since: freeze.since, blocker: { by: null, name, reason, until: freeze.until } };
}

function describe({ by, reason, until }: StoredHold): HoldBlocker {
  return { by, name: null, reason, until };
}
