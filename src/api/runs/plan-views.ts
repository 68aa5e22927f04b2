import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { diagnosticSeverities } from '#domain/runs/diagnostics/model.ts';
import {
  changeActions,
  completeSummary,
  type ResourceChange,
  type StoredSummary,
  summarizePlan,
} from '#domain/runs/plans/model.ts';
import {
  checkKinds,
  checkStatuses,
  countSections,
  noSections,
  type PlanSections,
} from '#domain/runs/plans/sections.ts';
import type { PlanDetails } from '#domain/runs/store.ts';
import { Json } from '#domain/shared/values/json.ts';

/** A planned change of a resource, as the API shows it. */

const Path = z
  .array(z.union([z.string(), z.number()]))
  .describe('Names of attributes, keys of maps, and positions in lists; empty for the whole resource.');
const unknownIfNull = 'Null: the tool does not say.';

export const ChangeView = z
  .object({
    address: z.string(),
    type: z.string().nullable(),
    action: z
      .enum(changeActions)
      .describe('`forget`: no longer managed, and not destroyed. `no-op`: moved or imported as it is.'),
    previous_address: z.string().nullable().describe('The address from which the resource is moved.'),
    imported: z
      .object({ id: z.string().nullable().describe('The id by which the tool finds it. Null while it is not known.') })
      .nullable()
      .describe('The resource exists already, and is taken into the state.'),
    action_reason: z.string().nullable().describe('Why the tool chose the action, such as `replace_because_tainted`.'),
    replace_paths: z.array(Path).nullable().describe(`The values that force the replacement. ${unknownIfNull}`),
    after_unknown: z
      .array(Path)
      .nullable()
      .describe(`The values that are known only after the apply. ${unknownIfNull}`),
    sensitive: z
      .array(z.object({ path: Path, changed: z.boolean() }))
      .nullable()
      .describe(`The secret values, each with whether it changes. ${unknownIfNull}`),
    before: Json,
    after: Json,
  })
  .meta({ id: 'PlannedChange' });

export function viewChange(change: ResourceChange): z.input<typeof ChangeView> {
  const { address, type = null, action, imported = null, before, after } = change;
  const { previousAddress = null, actionReason = null } = change;
  const { replacePaths = null, unknownPaths = null, sensitivePaths = null } = change;
  return {
    address,
    type,
    action,
    previous_address: previousAddress,
    imported,
    action_reason: actionReason,
    replace_paths: replacePaths,
    after_unknown: unknownPaths,
    // Without its digest: a reader who has one could learn when a secret gets an earlier value again.
    sensitive: sensitivePaths?.map(({ path, changed }) => ({ path, changed })) ?? null,
    before,
    after,
  };
}

/** The parts of a plan besides its changes of resources, as the API shows them. */

const OutputView = z
  .object({
    name: z.string(),
    action: z.enum(changeActions),
    before: Json,
    after: Json,
    sensitive: z.boolean(),
  })
  .meta({ id: 'PlannedOutput' });

const CheckView = z
  .object({
    address: z.string(),
    kind: z.enum(checkKinds).describe('What declares the conditions; `check`: a block of that name.'),
    status: z
      .enum(checkStatuses)
      .describe('`error`: the tool cannot evaluate a condition. `unknown`: it can do so only during the apply.'),
    problems: z.array(z.string()).describe('The messages of the conditions that fail.'),
  })
  .meta({ id: 'PlanCheck' });

const ActionView = z
  .object({
    address: z.string(),
    type: z.string(),
    event: z.string().nullable().describe('When the tool invokes it, such as `AfterCreate`.'),
    trigger: z.string().nullable().describe('The resource whose change invokes it.'),
    config: Json,
    deferred: z.string().nullable().describe('Why the tool defers it to a later plan. Null: this plan invokes it.'),
  })
  .meta({ id: 'PlannedAction' });

const DiagnosticView = z
  .object({
    severity: z.enum(diagnosticSeverities),
    message: z.string(),
    detail: z.string().nullable(),
    file: z.string().nullable(),
    line: z.int().nullable(),
    snippet: z.string().nullable(),
    address: z.string().nullable(),
  })
  .meta({ id: 'Diagnostic' });

const sectionFields = {
  outputs: z
    .array(OutputView)
    .describe('The outputs that change. Empty for a plan that was made before the service kept more than changes.'),
  checks: z
    .array(CheckView)
    .describe('The conditions that the tool evaluated. They do not keep a plan from its apply.'),
  diagnostics: z.array(DiagnosticView).describe('The warnings of the tool.'),
  actions: z.array(ActionView).describe('What the tool invokes before or after it changes resources.'),
  deferred: z
    .array(z.object({ reason: z.string(), change: ChangeView }))
    .describe('Changes that the tool defers to a later plan.'),
};

export const SectionsView = z.object(sectionFields).meta({ id: 'PlanSections' });

export function viewSections(sections: PlanSections | null): z.input<typeof SectionsView> {
  const { outputs, checks, actions, deferred, diagnostics } = sections ?? noSections;
  return {
    outputs,
    checks,
    diagnostics: diagnostics.map(
      ({ severity, message, detail = null, file = null, line = null, snippet = null, address = null }) => ({
        severity,
        message,
        detail,
        file,
        line,
        snippet,
        address,
      }),
    ),
    actions,
    deferred: deferred.map(({ reason, change }) => ({ reason, change: viewChange(change) })),
  };
}

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

/** The digest and the summary of a plan, in a list; null without a plan. */
export function viewPlanReference({ planDigest: digest, planSummary: summary }: PlanReference) {
  return digest !== null && summary !== null ? { digest, summary: completeSummary(summary) } : null;
}

interface PlanReference {
  readonly planDigest: string | null;
  readonly planSummary: StoredSummary | null;
}

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
