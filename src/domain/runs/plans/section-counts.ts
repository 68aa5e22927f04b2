/** How many members of each section of a plan people should check. */
export interface SectionCounts {
  outputs: number;
  /** Checks that fail or cannot be evaluated. */
  checks: number;
  warnings: number;
  actions: number;
  deferred: number;
}

export const noCounts: SectionCounts = { outputs: 0, checks: 0, warnings: 0, actions: 0, deferred: 0 };
