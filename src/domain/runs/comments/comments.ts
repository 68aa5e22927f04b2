import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import type { Run } from '../entity.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { RunComment } from './entity.ts';

/**
 * Adds a comment to a run, whose row is locked. The event and the audit record name the comment without its text, because the deletion of
 * the run must erase the text.
 */
export async function addComment(tx: Transaction, run: Run, author: Principal, text: string): Promise<string> {
  const id = newId();
  const { id: authorId, kind: authorType, name: authorName } = author;
  await tx.em.persist(tx.em.create(RunComment, { id, runId: run.id, authorId, authorType, authorName, text })).flush();
  publishRunEvent(tx, run, 'run.commented', { by: authorName, comment_id: id });
  return id;
}
