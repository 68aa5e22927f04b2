import { defineEntity, p } from '@mikro-orm/core';
import { createdAt } from '#database/columns.ts';
import { Run } from '../entity.ts';
import type { ResourceChange } from './model.ts';
import type { PlanSections } from './sections.ts';

/** The plan of a run. Kept in months by the time in the run's id; migrations make the table. */
export const RunPlanSchema = defineEntity({
  name: 'RunPlan',
  tableName: 'run_plans',
  properties: {
    runId: () => p.oneToOne(Run).owner().primary().mapToPk().fieldName('run_id').deleteRule('restrict'),
    /** The digest that a review names. It binds the plan, its inputs and its state. */
    digest: p.string(),
    /** The executor's own digest of the plan; the executor checks it before it applies the plan. */
    executorDigest: p.string(),
    changes: p.json<ResourceChange[]>(),
    /** The parts of the plan besides its changes; null: the plan was stored before the service stored these. */
    sections: p.json<PlanSections>().nullable(),
    /** Sealed: the plan file and what applying it needs. Deleted when the run ends. */
    artifact: p.blob().nullable().hidden(),
    stateSerial: p.integer(),
    createdAt: createdAt(),
  },
});
export class RunPlan extends RunPlanSchema.class {}
RunPlanSchema.setClass(RunPlan);
