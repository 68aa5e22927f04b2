import { isDeepStrictEqual } from 'node:util';
import { describeGiver, type InheritedValues, isOpen, showInherited } from '#api/environments/pages/inherited.ts';
import { holdsSecret, type ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { withDefaults } from '#api/web/forms/schema/with-defaults.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
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

/** Whether a variable that is left empty gets the same value that is deployed. */
export function staysWhenEmpty({ root, inherited }: ComparedFacts, { values }: Deployment, name: string): boolean {
  const given = inherited?.get(slots.member('', name));
  const member = root.members.find((each) => each.name === name);
  const inFull = (value: JsonValue | undefined) =>
    value === undefined || !member ? value : withDefaults(member, value);
  const isDeployed = (value: JsonValue | undefined) => isDeepStrictEqual(inFull(value), inFull(values[name]));
  return given ? isOpen(given) && isDeployed(given.value) : isDeployed(member?.default);
}

/** Whether a required variable would get no value if it is left empty. */
export function isMissing({ root, inherited }: ComparedFacts, name: string): boolean {
  const member = root.members.find((each) => each.name === name);
  return Boolean(member?.isRequired) && member?.default === undefined && !inherited?.has(slots.member('', name));
}

/** The value that a variable gets if it is left empty. */
export function whenEmpty({ root, inherited }: ComparedFacts, name: string): Pick<Difference, 'after' | 'giver'> {
  const given = inherited?.get(slots.member('', name));
  if (given) return { after: showInherited(given), giver: describeGiver(given) };
  const member = root.members.find((each) => each.name === name);
  const isShown = member?.default !== undefined && !holdsSecret(member);
  return { after: isShown ? shorten(member.default ?? null) : null };
}

/** The two sides of a comparison: the deployment, and the version of the form. */
interface Comparison {
  readonly baseline: Deployment;
  readonly version: string;
}

/** Identifies the comparison. Having seen the differences from one deployment says nothing about another one. */
function subjectOf({ baseline, version }: Comparison): string[] {
  return [baseline.run.id, version];
}

/**
 * Digests of the differences that the form shows. The form sends them back, so that no run starts whose differences the visitor has not
 * seen. Entering a secret that the form asks for, or dropping it, counts as seen.
 */
export function markDifferences(of: Comparison, differences: readonly Difference[]): string {
  const all = differences.flatMap((each): Difference[] =>
    each.kind === 'asked'
      ? [each, { ...each, kind: 'emptied' }, { ...each, kind: 'changed', after: 'a secret, entered again' }]
      : [each],
  );
  return [...subjectOf(of), ...all].map(markOf).join(' ');
}

/** Whether the sent form had shown all of these differences. */
export function areShown(sent: string, of: Comparison, differences: readonly Difference[]): boolean {
  const shown = new Set(sent.split(' '));
  return [...subjectOf(of), ...differences].every((each) => shown.has(markOf(each)));
}

function markOf(what: string | Difference): string {
  return digestOf(Buffer.from(JSON.stringify(what))).slice('sha256:'.length, 'sha256:'.length + 16);
}

/** The names of the variables that a run got from the environment or a variable set. */
export function givenTo({ variable_sources: sources }: Deployment['run']): string[] {
  return (sources ?? []).flatMap(({ variable, category }) => (category === 'template' ? [variable] : []));
}
