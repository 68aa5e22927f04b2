import type { Em } from '#database/database.ts';
import type { RunAuthor } from '../model.ts';
import type { Author } from './rules.ts';
import { readApprovalFacts } from './store.ts';

/** What those are told who answer for a run that another one repeats or takes back. */
interface Reasons {
  readonly requested: string;
  readonly answers: string;
}

/**
 * Everybody who answers for a run, with those whom it was requeued from: none of them approves a run that repeats it or takes it back
 * (docs/access.md, *Approval*).
 */
export async function authorsOfRun(em: Em, runId: string, { requested, answers }: Reasons): Promise<RunAuthor[]> {
  const { requesters, authors } = await readApprovalFacts(em, runId);
  const because =
    (reason: string) =>
    ({ id, person }: Author): RunAuthor => ({ id, person, because: reason });
  return [...requesters.map(because(requested)), ...authors.map(because(answers))];
}
