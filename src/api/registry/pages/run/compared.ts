import type { InheritedValues } from '#api/environments/pages/inherited.ts';
import type { ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** What a form for a run is compared with, and how it differs. */

export type Values = Readonly<Record<string, JsonValue>>;

/** What a form is compared with: what is deployed. */
export interface Deployment {
  /** The run that deployed it, with what gave it the variables that it did not name itself. */
  readonly run: {
    readonly id: string;
    readonly variable_sources?: readonly { readonly variable: string; readonly category: string }[] | null;
  };
  readonly version: string;
  /** The deployment of the instance that the form changes; absent if the form names no single instance. */
  readonly instance?: { readonly name: string };
  /** The variables that may be shown. */
  readonly values: Values;
  /** The names of the secrets. */
  readonly secrets: readonly string[];
  /** The variables of the deployed version. */
  readonly root: ObjectNode;
}

/** A difference between what is deployed and what the form asks for, in words. */
export interface Difference {
  readonly variable: string;
  /**
   * `emptied`: its field is empty, and what takes its place is not what is deployed. `given`: its field is empty, nothing of it is deployed, and it gets a value.
   * `asked`: a secret that nothing gives any longer, or that another person gave, so it has to be entered again. `unread`: what was typed is not a valid value.
   * `missing`: its field is empty, and it is required. `rotated`: a secret of the environment or of a set, which gives another one now.
   */
  readonly kind:
    | 'changed'
    | 'emptied'
    | 'missing'
    | 'given'
    | 'asked'
    | 'unread'
    | 'added'
    | 'dropped'
    | 'redefined'
    | 'rotated';
  /** The deployed value and the new one; null: there is none, or it must not be shown. */
  readonly before: string | null;
  readonly after: string | null;
  /** What gives the new value: the environment or a variable set. Absent: the form or the version. */
  readonly giver?: string;
}

/** What the form is made from, as far as differences depend on it. */
export interface ComparedFacts {
  readonly root: ObjectNode;
  readonly version: { readonly version: string } | null;
  /** What applies to a variable that is left empty instead of its default. Null: nothing can. */
  readonly inherited: InheritedValues | null;
  /** What is deployed, if the form starts from it. */
  readonly deployed: Deployment | null;
  /** The run that is copied with its secrets, if any is. */
  readonly source: { readonly prefill: { readonly secrets: readonly string[] } | null } | null;
  /** The secrets that an environment or a set has given otherwise since. Absent: nothing gave any. */
  readonly rotated?: RotatedSecrets;
  /** The secrets of what the form starts from that another person gave than the visitor. Absent: there are none. */
  readonly secretsOfOthers?: readonly string[];
}

/** The names of secrets that an environment or a set gave a run, and gives otherwise now, or no longer. */
export interface RotatedSecrets {
  /** Of what the form is compared with. */
  readonly ofBaseline: readonly string[];
  /** Of the run that is copied. */
  readonly ofSource: readonly string[];
}
