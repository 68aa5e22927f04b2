import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Diagnostic } from '../diagnostics/model.ts';
import type { ChangeAction, ResourceChange } from './model.ts';
import type { SectionCounts } from './section-counts.ts';

/** The parts of a plan besides its changes of resources. Pure. */

/** A change of an output. Secret values are `{"sensitive": true}`, values not known yet are `{"unknown": true}`. */
export interface PlannedOutput {
  name: string;
  action: ChangeAction;
  before: JsonValue;
  after: JsonValue;
  sensitive: boolean;
}

export const checkKinds = ['resource', 'output', 'check', 'variable'] as const;
export type CheckKind = (typeof checkKinds)[number];

/** `error`: the condition itself could not be evaluated. `unknown`: it is evaluated only during the apply. */
export const checkStatuses = ['pass', 'fail', 'error', 'unknown'] as const;
export type CheckStatus = (typeof checkStatuses)[number];

/** The conditions of one object: a `check` block, or what a resource, an output or a variable declares. */
export interface PlanCheck {
  address: string;
  kind: CheckKind;
  status: CheckStatus;
  /** The messages of the conditions that fail. */
  problems: string[];
}

/** An action that the tool invokes before or after it changes a resource. Its configuration is masked as values are. */
export interface PlannedAction {
  address: string;
  type: string;
  /** When it is invoked, such as `AfterCreate`; null: it is invoked independently of a resource. */
  event: string | null;
  /** The resource whose change invokes it. */
  trigger: string | null;
  config: JsonValue;
  /** Why the tool defers it to a later plan; null: this plan invokes it. */
  deferred: string | null;
}

/** A change that the tool knows of and defers to a later plan. */
export interface DeferredChange {
  /** The reason as the tool reports it, such as `resource_config_unknown`. */
  reason: string;
  change: ResourceChange;
}

/** Masks the values of the outputs with these names. Whether there is a value stays visible. */
export function maskPlannedOutputs(sections: PlanSections | null, secret: readonly string[]): PlanSections | null {
  if (!sections || secret.length === 0) return sections;
  const mask = (value: JsonValue) => (value === null ? null : { sensitive: true });
  const outputs = sections.outputs.map((output) =>
    secret.includes(output.name)
      ? { ...output, before: mask(output.before), after: mask(output.after), sensitive: true }
      : output,
  );
  return { ...sections, outputs };
}

export interface PlanSections {
  readonly outputs: PlannedOutput[];
  readonly checks: PlanCheck[];
  readonly actions: PlannedAction[];
  readonly deferred: DeferredChange[];
  /** The warnings of the tool. */
  readonly diagnostics: Diagnostic[];
}

/** The sections of commands' plans, and of plans that an earlier release stored without sections. */
export const noSections: PlanSections = { outputs: [], checks: [], actions: [], deferred: [], diagnostics: [] };

/** A check has at most this many messages, each of at most this many UTF-16 units. */
export const maxProblems = 20;
export const maxProblemLength = 2_000;

export function countSections({ outputs, checks, actions, deferred, diagnostics }: PlanSections): SectionCounts {
  const later = actions.filter((action) => action.deferred !== null).length;
  return {
    outputs: outputs.length,
    checks: checks.filter(hasFailed).length,
    warnings: diagnostics.length,
    actions: actions.length - later,
    deferred: deferred.length + later,
  };
}

/** The prefix of the address of an output, as the tools write it in checks. No resource can have such an address. */
export const outputPrefix = 'output.';

/** The addresses of the outputs that a plan changes. */
export function touchedOutputs({ outputs }: Pick<PlanSections, 'outputs'>): string[] {
  return outputs.map(({ name }) => `${outputPrefix}${name}`);
}

export function hasFailed({ status }: Pick<PlanCheck, 'status'>): boolean {
  return status === 'fail' || status === 'error';
}
