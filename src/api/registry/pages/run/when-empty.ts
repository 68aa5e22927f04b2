import { isDeepStrictEqual } from 'node:util';
import { describeGiver, isOpen, showInherited } from '#api/environments/pages/inherited.ts';
import { holdsSecret } from '#api/web/forms/schema/plan/node.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { withDefaults } from '#api/web/forms/schema/with-defaults.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ComparedFacts, Deployment, Difference } from './compared.ts';

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
