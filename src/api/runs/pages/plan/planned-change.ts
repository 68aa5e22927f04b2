import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { listPlanChanges } from '../../plan-operations.ts';

/** A page of a plan, as the API shows it. */
export type PlanPage = EncodedAnswerOf<(typeof listPlanChanges)['responses']>;

/** Names of attributes, keys of maps, and positions in lists. */
export type ValuePath = readonly (string | number)[];

/** A change of a plan. What the tool does not say is missing or null. */
export interface PlannedChange {
  readonly position: number;
  readonly kind: PlanPage['changes'][number]['kind'];
  readonly address: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
  readonly previous_address?: string | null;
  readonly imported?: { readonly id: string | null } | null;
  readonly action_reason?: string | null;
  readonly replace_paths?: readonly ValuePath[] | null;
  readonly sensitive?: readonly SensitivePath[] | null;
}

/** Where a secret value is, and whether the plan changes it. */
export interface SensitivePath {
  readonly path: ValuePath;
  readonly changed: boolean;
}
