import { deposedSuffix } from '#domain/instances/state-file/addresses.ts';
import type { ChangeAction, ResourceChange } from '#domain/runs/plans/model.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import {
  collectMarked,
  distinctNames,
  maskMarked,
  sensitiveMark,
  shownValue,
  unknownMark,
} from '../../redaction/masking.ts';
import { AttemptFailure } from '../../shared/errors.ts';
import { asArray, isObject, type JsonObject } from '../../shared/json.ts';
import { type DetailsReading, readDetails } from './plan-details.ts';

/** The tool's description of a change: both sides, and marks in the shape of the value. */
export function changeOf(planned: JsonObject): JsonObject {
  return isObject(planned['change']) ? planned['change'] : {};
}

/** Redacts from now on the values that the plan marks as secret. */
export function learnSecrets(change: JsonObject, redactor: Redactor): void {
  for (const side of ['before', 'after'] as const) {
    for (const secret of collectMarked(change[side], change[`${side}_sensitive`])) redactor.learn(secret);
  }
}

/** Reads a member of `resource_changes`. @throws AttemptFailure */
export function readChange(resource: JsonObject, reading: DetailsReading): ResourceChange {
  const { redactor, nameOf } = reading;
  const change = changeOf(resource);
  return {
    address: nameOf(addressOf(resource)),
    type: redactor.redactText(String(resource['type'] ?? '')),
    action: readAction(change),
    ...readSides(change, redactor),
    ...readDetails(resource, change, reading),
  };
}

/**
 * Returns a function that redacts addresses. Addresses that differ only in secrets are numbered, in the order in which the tool lists all
 * resources, including unchanged ones. So each scan gives them the same numbers.
 */
export function nameAddresses(resources: readonly JsonObject[], redactor: Redactor): (address: string) => string {
  const addresses = [...new Set(resources.map(addressOf))];
  const names = distinctNames(addresses, redactor);
  const nameOf = new Map(addresses.map((address, index) => [address, names[index]]));
  return (address) => nameOf.get(address) ?? redactor.redactText(address);
}

/** Both sides of a change, without secrets. */
export function readSides(change: JsonObject, redactor: Redactor): Pick<ResourceChange, 'before' | 'after'> {
  const { before = null, after = null, after_unknown, before_sensitive, after_sensitive } = change;
  const known = maskMarked(after, after_unknown, unknownMark);
  return {
    before: shownValue(maskMarked(before, before === null ? false : before_sensitive, sensitiveMark), redactor),
    after: shownValue(maskMarked(known, known === null ? false : after_sensitive, sensitiveMark), redactor),
  };
}

/**
 * The address of a resource. The tool uses the same address for an object that waits to be destroyed and for the one that has replaced it,
 * so the former gets a suffix.
 */
export function addressOf({ address = '', deposed }: JsonObject): string {
  return typeof deposed === 'string' && deposed !== '' ? `${address}${deposedSuffix(deposed)}` : String(address);
}

/**
 * OpenTofu writes a replacement as two actions in either order. It may forget the old resource instead of deleting it, which is
 * shown as a replacement too.
 */
export function readAction(change: JsonObject): ChangeAction {
  const actions = asArray(change['actions']);
  const names: Record<string, ChangeAction> = {
    create: 'create',
    update: 'update',
    delete: 'delete',
    read: 'read',
    'no-op': 'no-op',
    forget: 'forget',
  };
  if (actions.includes('delete') && actions.includes('create')) return 'replace';
  if (actions.includes('forget') && actions.includes('create')) return 'replace';
  const action = names[String(actions[0])];
  if (action === undefined)
    throw new AttemptFailure('plan_invalid', `the plan has an unknown action "${actions.join(', ')}"`);
  return action;
}
