import type { DemandedIsolation } from '../model.ts';
import { defaultEgress, type Egress } from './egress.ts';

/** Who may use a pool. */
export interface PoolAccess {
  /** Null: all teams. */
  readonly teamIds: readonly string[] | null;
  /** Null: all environments of those teams. */
  readonly environmentIds: readonly string[] | null;
}

/**
 * The percentages of a pool's slots that one team and one person may occupy, if several teams may use the pool. A percentage allows at
 * least one slot, and 100 percent allows all.
 */
export interface PoolShares {
  /** For one team. */
  readonly maxTeamPercent: number;
  /** For one person, while several people wait for slots. */
  readonly maxPersonPercent: number;
}

export const defaultShares: PoolShares = { maxTeamPercent: 75, maxPersonPercent: 50 };

/** What operators set for a pool. */
export interface PoolRules extends PoolAccess, PoolShares {
  /** The isolation that a worker needs to execute runs of the pool. */
  readonly isolation: DemandedIsolation;
  readonly egress: Egress;
}

/** The rules of a pool that no operator has created. */
export const defaultRules: PoolRules = {
  teamIds: null,
  environmentIds: null,
  isolation: null,
  egress: defaultEgress,
  ...defaultShares,
};

interface Owner {
  readonly teamId?: string | null;
  readonly environmentId?: string | null;
}

/**
 * Whether a run of this team and environment may use a pool. A pool without rules (null) is open to all. Checked at admission,
 * and again before a run begins.
 */
export function isOpenTo(pool: PoolAccess | null, { teamId, environmentId }: Owner): boolean {
  return !pool || (includes(pool.teamIds, teamId) && includes(pool.environmentIds, environmentId));
}

function includes(listed: readonly string[] | null | undefined, id: string | null | undefined): boolean {
  return !listed || (id !== null && id !== undefined && listed.includes(id));
}
