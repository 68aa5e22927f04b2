import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';

function selectComments(em: Em, runId: string) {
  return db(em)
    .selectFrom('run_comments')
    .where('run_comments.runId', '=', runId)
    .select([
      'run_comments.id',
      'run_comments.authorId',
      'run_comments.authorType',
      'run_comments.authorName',
      'run_comments.text',
      'run_comments.createdAt',
    ]);
}

/** A comment as the API shows it. Times are strings. */
export type CommentDetails = Awaited<ReturnType<typeof listComments>>['items'][number];

/** A page of the comments of a run, newest first. */
export function listComments(em: Em, runId: string, page: PageRequest) {
  return pageOf(selectComments(em, runId), 'run_comments.id', page);
}

export function readComment(em: Em, runId: string, id: string): Promise<CommentDetails | undefined> {
  return selectComments(em, runId).where('run_comments.id', '=', id).executeTakeFirst();
}
