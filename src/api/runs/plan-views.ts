import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { summarizePlan } from '#domain/runs/plans/model.ts';
import { countSections, noSections } from '#domain/runs/plans/sections.ts';
import type { PlanDetails } from '#domain/runs/store.ts';
import { ChangeView, viewChange } from './change-views.ts';
import { sectionFields, viewSections } from './section-views.ts';

export const SummaryView = z
  .object({
    add: z.int(),
    change: z.int(),
    destroy: z.int(),
    replace: z.int().describe('A replacement counts here, and also as one `add` and one `destroy`.'),
    forget: z.int().describe('Resources that are no longer managed, and are not destroyed.'),
    import: z.int(),
    move: z.int(),
    outputs: z.int().describe('Outputs that change.'),
    checks: z.int().describe('Checks that fail, or that the tool cannot evaluate.'),
    warnings: z.int(),
    actions: z.int().describe('Actions that the tool invokes.'),
    deferred: z.int().describe('Changes and actions that the tool defers to a later plan.'),
  })
  .meta({ id: 'PlanSummary' });

export const PlanView = z
  .object({
    run_id: AnswerId,
    digest: z.string(),
    summary: SummaryView,
    state_serial: z.int(),
    changes: z.array(ChangeView),
    ...sectionFields,
    created_at: Time,
  })
  .meta({ id: 'Plan' });

export function toPlan(runId: string, plan: PlanDetails): z.input<typeof PlanView> {
  return {
    run_id: runId,
    digest: plan.digest,
    summary: summarizePlan(plan.changes, countSections(plan.sections ?? noSections)),
    state_serial: plan.stateSerial,
    changes: plan.changes.map(viewChange),
    ...viewSections(plan.sections),
    created_at: plan.createdAt,
  };
}
