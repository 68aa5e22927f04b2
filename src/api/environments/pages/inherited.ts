import { slots } from '#api/web/forms/schema/slots.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { convertDefault } from '#domain/runs/admission/inputs/merge-inputs.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { findGivenDefaults, type GivenDefault } from '#domain/variable-sets/given-defaults.ts';
import { get } from '../operations.ts';

/** The value that a run gets from its environment or a variable set if the variable is left empty. */
export type Inherited = GivenDefault;

/** By the slots of the variables. */
export type InheritedValues = ReadonlyMap<string, Inherited>;

/**
 * Reads the variables that an environment and its variable sets provide for templates; null if the visitor may not read the environment.
 */
export async function readInherited(visit: Visit<unknown>, id: string): Promise<InheritedValues | null> {
  const environment = await orNull(visit.read(get, { params: { id } }));
  if (!environment) return null;
  const given = await findGivenDefaults(visit.em, visit.principal, id);
  return new Map(given.map((each) => [slots.member('', each.name), each]));
}

/** The same values, converted as the variables of a template receive them. */
export function inheritedBy(inherited: InheritedValues, schema: JsonObject): InheritedValues {
  return new Map(
    [...inherited].map(([slot, each]) => [slot, { ...each, value: convertDefault(schema, each.name, each.value) }]),
  );
}

/** The same values in words, by slot. */
export function describeInherited(inherited: InheritedValues): ReadonlyMap<string, string> {
  return new Map([...inherited].map(([slot, each]) => [slot, describe(each)]));
}

function describe(each: Inherited): string {
  const { from } = each;
  if (from === null) return `A variable set gives ${showInherited(each)}`;
  return from.kind === 'environment'
    ? `${from.name} sets ${showInherited(each)}`
    : `The set ${from.name} gives ${showInherited(each)}`;
}

/** The value, as far as it may be shown. */
export function showInherited(each: Inherited): string {
  if (each.isSecret) return 'a secret value';
  return each.from === null ? 'a value' : shorten(each.value);
}

/** The source of the value, as a clause after it. */
export function describeGiver({ from }: Inherited): string {
  if (from === null) return 'a variable set gives it';
  return from.kind === 'environment' ? `${from.name} sets it` : `the set ${from.name} gives it`;
}

/** Like `describeGiver`, for a secret that differs from the deployed one. */
export function describeRotated({ from }: Inherited): string {
  const other = 'another value than the deployed one';
  if (from === null) return `a variable set gives ${other}`;
  return from.kind === 'environment' ? `${from.name} sets ${other}` : `the set ${from.name} gives ${other}`;
}

/** Whether the value may be shown, so that it can be compared. */
export function isOpen({ isSecret, from }: Inherited): boolean {
  return !isSecret && from !== null;
}
