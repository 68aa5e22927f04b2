import type { Em } from '#database/database.ts';
import type { RunAuthor } from '../model.ts';
import type { Author } from './rules.ts';
import { readApprovalFacts } from './store.ts';

/** The reasons shown to the people who requested or answer for a run that another run repeats or undoes. */
interface Reasons {
  readonly requested: string;
  readonly answers: string;
}

/**
 * Everybody who answers for a run or for the runs that it was requeued from. None of them may approve a run that repeats or undoes it
 * (docs/access.md, *Approval*).
 */
export async function authorsOfRun(em: Em, runId: string, { requested, answers }: Reasons): Promise<RunAuthor[]> {
  const { requesters, authors } = await readApprovalFacts(em, runId);
  const because =
    (reason: string) =>
    ({ id, person }: Author): RunAuthor => ({ id, person, because: reason });
  return [...requesters.map(because(requested)), ...authors.map(because(answers))];
}
