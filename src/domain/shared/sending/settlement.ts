import { sql } from 'kysely';

/** What becomes of something after a try to send it. `Sent` is the status of what was sent. */
export type Settlement<Sent extends string> =
  | { readonly status: Sent }
  | { readonly status: 'failed' | 'withheld'; readonly problem: string }
  | { readonly status: 'pending'; readonly problem: string; readonly pauseMs: number };

/**
 * @param problem why the try failed; null: it succeeded
 * @param pauseMs how long to wait for the next try after a failure; null: there is none
 */
export function settlementOf<Sent extends string>(
  sent: Sent,
  problem: string | null,
  pauseMs: number | null,
): Settlement<Sent> {
  if (problem === null) return { status: sent };
  return pauseMs === null ? { status: 'failed', problem } : { status: 'pending', problem, pauseMs };
}

/** The columns in which a queue keeps a settlement. */
export function settledColumns<Sent extends string>(settlement: Settlement<Sent>) {
  const pauseMs = 'pauseMs' in settlement ? settlement.pauseMs : null;
  return {
    status: settlement.status,
    problem: 'problem' in settlement ? settlement.problem : null,
    ...(pauseMs !== null && { dueAt: sql<string>`now() + make_interval(secs => ${pauseMs / 1000})` }),
  };
}
