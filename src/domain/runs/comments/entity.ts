import { defineEntity, p } from '@mikro-orm/core';
import { createdAt, id } from '#database/columns.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import { Run } from '../entity.ts';

/** A comment of a user or a service account on a run. It never changes, and is deleted with the run. */
export const RunCommentSchema = defineEntity({
  name: 'RunComment',
  tableName: 'run_comments',
  indexes: [{ name: 'run_comments_run_id_index', properties: ['runId', 'id'] }],
  properties: {
    id: id(),
    runId: () => p.manyToOne(Run).mapToPk().fieldName('run_id').deleteRule('restrict'),
    authorId: p.uuid(),
    authorType: p.string().$type<PrincipalKind>(),
    /** The author's name at that time. */
    authorName: p.string(),
    text: p.text(),
    createdAt: createdAt(),
  },
});
export class RunComment extends RunCommentSchema.class {}
RunCommentSchema.setClass(RunComment);
