import { z } from 'zod';
import { diagnosticSeverities } from '#domain/runs/diagnostics/model.ts';
import { changeActions } from '#domain/runs/plans/model.ts';
import { checkKinds, checkStatuses, noSections, type PlanSections } from '#domain/runs/plans/sections.ts';
import { Json } from '#domain/shared/values/json.ts';
import { ChangeView, viewChange } from './change-views.ts';

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

export const sectionFields = {
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
