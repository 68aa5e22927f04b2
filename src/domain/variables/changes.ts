import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Conflict, Invalid, NotFound } from '#domain/shared/errors.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type ChangedHolder, placeOf, planValueContext, valueContext } from './holders.ts';
import { maxVariables, type NewVariable, type VariablePhase, variablePhases } from './model.ts';
import { refuseUnusable } from './rules.ts';
import {
  changeKeptVariable,
  countVariableChange,
  countVariables,
  deleteVariables,
  type ShownVariable,
  type StoredPlanValue,
  writeVariable,
} from './store.ts';

/** The author of a change and the holder of the changed variables. The caller has locked the holder's row and checked the authority. */
export interface VariableWriter {
  readonly em: Em;
  readonly keyRing: KeyRing;
  readonly holder: ChangedHolder;
  readonly setBy: string;
}

/** The result of a change of a variable, with the new revision of the holder's variables. */
export interface VariableChange {
  readonly variable: ShownVariable;
  readonly holderRevision: number;
}

/**
 * Creates a variable, or replaces it if it exists. A sensitive one without a new value keeps the value that it has.
 * @throws Invalid for a name, a value or phases that a variable of this category cannot have, or if there is no value to keep
 * @throws Conflict for something archived, a stale revision, or one variable too many
 */
export async function setVariable(
  writer: VariableWriter,
  variable: NewVariable,
  before: ShownVariable | undefined,
): Promise<VariableChange> {
  const { em, holder } = writer;
  refuseArchived(holder);
  refuseUnusable(variable, before);
  refuseStale(before ?? { revision: 0 }, variable.expectedRevision);
  if (!before) refuseTooMany(holder, (await countVariables(em, holder)) + 1);
  const written = await write(writer, variable, before);
  const isSame = before?.revision === written.revision;
  return { variable: written, holderRevision: await revisionAfter(em, holder, isSame) };
}

/** The variables that a replacement changed. */
export interface VariableReplacement {
  readonly before: ShownVariable[];
  readonly after: ShownVariable[];
  readonly holderRevision: number;
}

/**
 * Replaces all variables of a holder. Variables that stay the same keep their revision. A sensitive one without a new value keeps the value
 * that it has.
 * @throws as `setVariable`, for the first variable that is refused; nothing is changed then
 */
export async function replaceVariables(
  writer: VariableWriter,
  wanted: readonly NewVariable[],
  current: readonly ShownVariable[],
): Promise<VariableReplacement> {
  refuseArchived(writer.holder);
  refuseTooMany(writer.holder, wanted.length);
  const known = new Map(current.map((variable) => [variable.name, variable]));
  refuseRepeated(wanted);
  for (const [index, variable] of wanted.entries()) {
    const before = known.get(variable.name);
    refuseUnusable(variable, before, `variables[${index}].`);
    refuseStale(before ?? { revision: 0 }, variable.expectedRevision);
  }
  const names = new Set(wanted.map(({ name }) => name));
  const removed = current.filter(({ name }) => !names.has(name));
  const changed = wanted.filter((variable) => isChanged(variable, known.get(variable.name)));
  const { em, holder } = writer;
  const gone = removed.map(({ name }) => name);
  if (gone.length > 0) await deleteVariables(em, holder, gone);
  const after = await Promise.all(changed.map((variable) => write(writer, variable, known.get(variable.name))));
  const replaced = changed.map(({ name }) => known.get(name)).filter((variable) => variable !== undefined);
  const isSame = removed.length + changed.length === 0;
  return { before: [...removed, ...replaced], after, holderRevision: await revisionAfter(em, holder, isSame) };
}

/**
 * Whether a replacement adds, changes or removes a sensitive variable. Keeping one unchanged does not require the right to manage secrets.
 */
export function concernsSecret(wanted: readonly NewVariable[], current: readonly ShownVariable[]): boolean {
  const named = new Map(wanted.map((variable) => [variable.name, variable]));
  const known = new Map(current.map((variable) => [variable.name, variable]));
  const isLost = ({ name, sensitive }: ShownVariable) => {
    const variable = named.get(name);
    return sensitive && (variable === undefined || isChanged(variable, known.get(name)));
  };
  return current.some(isLost) || wanted.some((each) => each.sensitive && isChanged(each, known.get(each.name)));
}

/**
 * Removes a variable; `variable` is undefined if the holder has none of that name.
 * @throws NotFound if the holder has no such variable; Conflict for something archived, or a stale revision
 */
export async function removeVariable(
  em: Em,
  holder: ChangedHolder,
  variable: ShownVariable | undefined,
  expectedRevision: number | undefined,
): Promise<VariableChange> {
  if (!variable) throw new NotFound('variable');
  refuseArchived(holder);
  refuseStale(variable, expectedRevision);
  await deleteVariables(em, holder, [variable.name]);
  return { variable, holderRevision: await countVariableChange(em, holder) };
}

/** The revision of a holder after its variables changed or stayed the same. */
function revisionAfter(em: Em, holder: ChangedHolder, isSame: boolean): Promise<number> | number {
  return isSame ? holder.variablesRevision : countVariableChange(em, holder);
}

/**
 * Whether a variable would change. Every new sensitive value counts as a change, because the answer must not reveal whether it is the
 * stored one.
 */
function isChanged(variable: NewVariable, before: ShownVariable | undefined): boolean {
  const { value, category, sensitive, phases } = variable;
  if (!before || before.category !== category || before.sensitive !== sensitive) return true;
  if (phases && !isDeepStrictEqual(new Set(phases), new Set(before.phases))) return true;
  if (changesPlanValue(variable, before)) return true;
  return sensitive ? value !== undefined : !isDeepStrictEqual(value, before.value);
}

function changesPlanValue({ planValue, sensitive }: NewVariable, before: ShownVariable): boolean {
  if (planValue === undefined) return false;
  if (planValue === null) return before.hasPlanValue;
  return sensitive || planValue !== before.planValue;
}

/** Writes a variable that has been checked. */
async function write(
  writer: VariableWriter,
  variable: NewVariable,
  before: ShownVariable | undefined,
): Promise<ShownVariable> {
  const { em, keyRing, holder, setBy } = writer;
  const { name, value, category, sensitive } = variable;
  const phases: readonly VariablePhase[] = variable.phases ?? before?.phases ?? variablePhases;
  const plan = toStoredPlanValue(writer, variable);
  const kept = { holder, name, phases, plan };
  if (value === undefined && before) return isChanged(variable, before) ? changeKeptVariable(em, kept) : before;
  if (value === undefined) throw new Error(`the variable ${name} has no value`);
  const sealed = sensitive ? keyRing.sealJson(valueContext(holder, name), value) : null;
  return writeVariable(em, { ...kept, category, sensitive, value, sealed, setBy });
}

/** The stored form of the value for planning; undefined: it stays as it is. A variable of the template has none. */
function toStoredPlanValue(
  { keyRing, holder }: VariableWriter,
  { name, category, sensitive, planValue }: NewVariable,
): StoredPlanValue | undefined {
  if (category === 'template' || planValue === null) return { value: null, sealed: null };
  if (planValue === undefined) return undefined;
  if (!sensitive) return { value: planValue, sealed: null };
  return { value: null, sealed: keyRing.sealJson(planValueContext(holder, name), planValue) };
}

function refuseRepeated(wanted: readonly NewVariable[]): void {
  const seen = new Set<string>();
  for (const [index, { name }] of wanted.entries()) {
    if (seen.has(name)) throw new Invalid(`variables[${index}].name: "${name}" is named twice`);
    seen.add(name);
  }
}

function refuseTooMany(holder: ChangedHolder, count: number): void {
  if (count <= maxVariables) return;
  throw new Conflict(
    `${placeOf(holder).article} has at most ${maxVariables} variables: remove one first`,
    'limit_reached',
  );
}
