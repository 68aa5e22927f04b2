import type { InheritedValues } from '#api/environments/pages/inherited.ts';
import type { ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/** The deployment with which a form for a run is compared, and the differences. */

export type Values = Readonly<Record<string, JsonValue>>;

/** The deployment with which a form is compared. */
export interface Deployment {
  /** The run that deployed it, with the sources of the variables that it did not set itself. */
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

/** A difference between the deployment and the form, in words. */
export interface Difference {
  readonly variable: string;
  /**
   * `emptied`: the field is empty, and its replacement differs from the deployed value. `given`: the field is empty and nothing is
   * deployed, but it gets a value. `asked`: a secret that must be entered again, because nothing provides it any longer or another person
   * entered it. `unread`: the typed text is not a valid value. `missing`: the field is empty, but required. `rotated`: a secret of the
   * environment or of a variable set, whose value there has changed.
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
  /** The deployed value and the new one; null if there is none, or if it must not be shown. */
  readonly before: string | null;
  readonly after: string | null;
  /** The source of the new value: the environment or a variable set. Absent: the form or the version. */
  readonly giver?: string;
}

/** The facts about the form on which differences depend. */
export interface ComparedFacts {
  readonly root: ObjectNode;
  readonly version: { readonly version: string } | null;
  /** For variables whose default does not apply when they are left empty: what applies instead. Null: there is nothing of the kind. */
  readonly inherited: InheritedValues | null;
  /** The deployment, if the form starts from it. */
  readonly deployed: Deployment | null;
  /** The run that is copied with its secrets, if any. */
  readonly source: { readonly prefill: { readonly secrets: readonly string[] } | null } | null;
  /** The secrets that an environment or a variable set has changed since. Absent: neither provided any. */
  readonly rotated?: RotatedSecrets;
  /** The secrets in the starting point of the form that another person entered. Absent: there are none. */
  readonly secretsOfOthers?: readonly string[];
}

/** The names of secrets that a run got from an environment or a variable set, where they have since changed or been removed. */
export interface RotatedSecrets {
  /** Those of the deployment with which the form is compared. */
  readonly ofBaseline: readonly string[];
  /** Those of the run that is copied. */
  readonly ofSource: readonly string[];
}
