import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { findRemovedOfRun } from '#domain/runs/deletion/retention.ts';
import { changeKinds } from '#domain/runs/plans/change-kinds.ts';
import { type PlacedChange, readPlanChanges } from '#domain/runs/plans/changes-store.ts';
import { findRun, readProgress } from '#domain/runs/store.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';
import { RunParams, readAccess } from './operations.ts';
import { ChangeView, SectionsView, viewChange, viewSections } from './plan-views.ts';

/** The error for a run without a plan. It says if retention may have removed the plan. */
export async function missingPlan(em: Em, runId: string): Promise<NotFound> {
  const run = await readProgress(em, runId);
  const removedBefore = run && (await findRemovedOfRun(em, 'run_plans', new Date(run.createdAt)));
  const reason = removedBefore
    ? ': plans of runs from before ' +
      removedBefore.toISOString().slice(0, 10) +
      ' were removed, because they were out of retention'
    : '';
  return new NotFound('a plan of this run', reason);
}

const PlacedChangeView = z
  .object({
    position: z.int().describe('The place in the whole plan, from 1.'),
    kind: z.enum(changeKinds),
    ...ChangeView.shape,
  })
  .meta({ id: 'PlacedChange' });

const count = z.int();
const ChangeCountsView = z
  .object({
    destroy: count,
    replace: count.describe('Replacements alone: they count neither as `destroy` nor as `add`.'),
    change: count,
    add: count,
    forget: count,
    import: count,
    move: count,
    read: count,
    unchanged: count,
  })
  .meta({ id: 'PlanChangeCounts' });

const PlanChangesView = z
  .object({
    run_id: AnswerId,
    digest: z.string(),
    counts: ChangeCountsView.describe(
      'Of the whole plan. What is moved or imported may also change, and then counts in both.',
    ),
    total: z.int().describe('How many changes the plan has.'),
    matching: z.int().describe('How many of them fit `kind` and `q`.'),
    changes: z.array(PlacedChangeView),
    sections: SectionsView.nullable().describe(
      'What the plan holds beside its changes, whatever `kind` and `q`. Null unless `after` is 0.',
    ),
    next_after: z.int().nullable().describe('Send it as `after` to get the next page. Null: there is none.'),
  })
  .meta({ id: 'PlanChanges' });

const ChangesQuery = z.strictObject({
  kind: z.enum(changeKinds).optional(),
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('A text in the address, or in the name or value of an attribute that changes.'),
  after: wholeNumber({ min: 0 }).default(0).describe('The position after which the page starts.'),
  limit: pageQuery.limit,
});

export const listPlanChanges = read({
  id: 'runs.list_plan_changes',
  route: 'GET /api/v1/runs/:id/plan/changes',
  summary: 'Read a part of the plan of a run: what it destroys first, then what it replaces, changes and adds',
  params: RunParams,
  query: ChangesQuery,
  responses: { 200: PlanChangesView },
  access: { ...readAccess, review: { inherits: 'runs.get' } },
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  isCostly: ({ q: text }) => text !== undefined,
  handle: async ({ em, params, query }) => {
    const { kind, q: text, after, limit } = query;
    const page = await readPlanChanges(em, params.id, { kind, text, after, limit });
    if (!page) throw await missingPlan(em, params.id);
    const { digest, counts, total, matching, changes, sections, nextAfter } = page;
    return {
      run_id: params.id,
      digest,
      counts,
      total,
      matching,
      changes: changes.map(toPlacedChange),
      sections: after === 0 ? viewSections(sections) : null,
      next_after: nextAfter,
    };
  },
});

function toPlacedChange({ position, kind, change }: PlacedChange): z.input<typeof PlacedChangeView> {
  return { position, kind, ...viewChange(change) };
}
