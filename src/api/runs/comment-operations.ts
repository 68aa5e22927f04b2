import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { AnswerId, pageOf, Time } from '#api/pipeline/schemas.ts';
import { addComment } from '#domain/runs/comments/comments.ts';
import { type CommentDetails, listComments, readComment } from '#domain/runs/comments/store.ts';
import { findRun } from '#domain/runs/store.ts';
import { findUndeletedRun, findUndeletedRunToChange } from '#domain/runs/targets.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { By } from '../pipeline/schemas.ts';
import { accessReview, createAccess, RunParams, readAccess } from './operations.ts';

const CommentParams = RunParams.extend({ commentID: Id });
const nested = { ...readAccess, review: { inherits: 'runs.get' } } as const;

/** Every control character except line breaks and tabs. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

const AddComment = z
  .strictObject({
    text: z
      .string()
      .overwrite((text) => text.replaceAll('\r\n', '\n'))
      .trim()
      .min(1)
      .max(4000)
      .refine((text) => !controls.test(text), { error: 'expected text without control characters' })
      .describe('Plain text; it is shown as it is. Line breaks of Windows (CRLF) become line feeds.'),
  })
  .meta({ id: 'AddRunComment' });

const CommentView = z
  .object({ id: AnswerId, run_id: AnswerId, by: By, text: z.string(), at: Time })
  .meta({ id: 'RunComment' });

function viewComment(runId: string, comment: CommentDetails): z.output<typeof CommentView> {
  const { id, authorType: type, authorId, authorName: name, text, createdAt: at } = comment;
  return { id, run_id: runId, by: { type, id: authorId, name }, text, at };
}

export const list = read({
  id: 'run_comments.list',
  route: 'GET /api/v1/runs/:id/comments',
  summary: 'List the comments on a run, newest first',
  params: RunParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('comments', CommentView) },
  access: nested,
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async ({ em, params, query }) => {
    const page = await listComments(em, params.id, query);
    return { comments: page.items.map((comment) => viewComment(params.id, comment)), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'run_comments.get',
  route: 'GET /api/v1/runs/:id/comments/:commentID',
  summary: 'Read a comment on a run',
  params: CommentParams,
  responses: { 200: CommentView },
  access: nested,
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async ({ em, params }) => {
    const comment = await readComment(em, params.id, params.commentID);
    if (!comment) throw new NotFound('comment');
    return viewComment(params.id, comment);
  },
});

export const create = command({
  id: 'run_comments.create',
  route: 'POST /api/v1/runs/:id/comments',
  summary: 'Comment on a run',
  description:
    'Those who may create runs in its team may comment. A comment cannot be changed, and is deleted with the run.',
  params: RunParams,
  body: AddComment,
  responses: { 201: CommentView },
  at: get,
  access: { ...createAccess, review: { ...accessReview, verb: 'comment', target: findUndeletedRun } },
  target: ({ em, params, lock }) => findUndeletedRunToChange(em, params.id, lock),
  targetName: 'run',
  idempotency: 'optional',
  audit: 'run.commented',
  handle: async ({ tx, target, body, principal }) => ({
    id: await addComment(tx, target.run, principal, body.text),
    after: { runId: target.run.id },
  }),
  atParams: ({ id: commentID }, { params }) => ({ id: params.id, commentID }),
});
