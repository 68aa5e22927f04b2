import { isDeepStrictEqual } from 'node:util';
import { isPlainObject, isUnknown } from '#domain/shared/values/comparison/marks.ts';
import { isWithin } from '#domain/shared/values/comparison/paths.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type ChangeAction, isEffective, type ResourceChange, type SensitivePath, type ValuePath } from './model.ts';
import { type ConfiguredReferences, withPerpetual } from './perpetual-differences.ts';

/**
 * Describes what a scan found as changes from the expected value (`before`) to the real value (`after`). Pure.
 *
 * A plan contains two lists: how the real resources differ from the recorded state (`drift`), and what applying the template would change
 * in the real resources (`planned`). Operators call both drift: somebody changed an attribute that the template sets or that only the state
 * contains, or a part of the deployment was never created. A value that somebody changed without the service is in both lists, once in each
 * direction, and counts once. So each resource has one change here:
 * - where recorded and real values differ, `before` has the recorded value;
 * - elsewhere, it has the value that the template sets. So a refresh, which records the real values, resolves deviations of attributes that
 *   only the state contains. A deviation from the template stays until an apply restores the value, or until the inputs set the real value;
 * - a value that only an apply would know counts as equal to the real one, unless nothing else explains why the tool would change the
 *   resource. `expectation` marks such a change.
 * A resource that a failed apply left tainted does not count as changed: the next apply replaces it, but nobody changed it.
 * @param references the references of the planned changes whose values are unknown
 */
export function scannedChanges(
  drift: readonly ResourceChange[],
  planned: readonly ResourceChange[],
  references: ConfiguredReferences = new Map(),
): ResourceChange[] {
  const wanted = Map.groupBy(
    planned.filter(({ action }) => isEffective(action)),
    ({ address }) => address,
  );
  const drifted = drift.filter(({ action }) => isEffective(action));
  const merged = drifted.map((each) => {
    // Masked secrets in keys may make addresses equal, so each planned change is used only once.
    const plan = wanted.get(each.address)?.shift();
    return plan ? mergeWithPlan(each, plan) : each;
  });
  const reversed = [...wanted.values()].flat().flatMap((each) => reverse(each) ?? []);
  return withPerpetual([...merged, ...reversed], references);
}

function mergeWithPlan(drift: ResourceChange, plan: ResourceChange): ResourceChange {
  if (drift.before === null || drift.after === null) return drift;
  const wanted = plan.after === null ? drift.before : expected(drift.before, drift.after, plan.after);
  return {
    ...drift,
    before: wanted,
    sensitivePaths: mergeSecrets(drift.sensitivePaths, knownSecrets(plan)),
    ...mergeOthers(drift, plan),
  };
}

/** The value that should be there: the recorded one if the real one differs from it, else the planned one. */
function expected(recorded: JsonValue, real: JsonValue, planned: JsonValue): JsonValue {
  if (isPlainObject(recorded) && isPlainObject(real) && isPlainObject(planned)) {
    const names = new Set([...Object.keys(recorded), ...Object.keys(real), ...Object.keys(planned)]);
    const member = (value: { readonly [name: string]: JsonValue }, name: string) =>
      Object.hasOwn(value, name) ? (value[name] as JsonValue) : null;
    const merged = [...names].map(
      (name) => [name, expected(member(recorded, name), member(real, name), member(planned, name))] as const,
    );
    return Object.fromEntries(merged);
  }
  if (!isDeepStrictEqual(recorded, real)) return recorded;
  return knownOr(planned, real);
}

/**
 * Reverses a planned change: the planned value becomes the expected one (`before`), and the present value becomes the found one (`after`).
 * Null: nothing differs.
 */
function reverse(change: ResourceChange): ResourceChange | null {
  const { before: real, after: planned, replacePaths: _, unknownPaths: __, ...rest } = change;
  const reversed = { ...rest, action: reversedActions[change.action] ?? change.action, after: real };
  if (real === null || planned === null) return { ...reversed, before: planned };
  const [known, sensitivePaths] = [knownOr(planned, real), knownSecrets(change)];
  const hasOtherSecret = change.otherSecrets?.changed || sensitivePaths?.some(({ changed }) => changed);
  const isExplained = !isDeepStrictEqual(known, real) || hasOtherSecret;
  if (isExplained) return { ...reversed, before: known, sensitivePaths };
  if (change.actionReason === 'replace_because_tainted') return null;
  return { ...reversed, before: planned, expectation: 'unknown' };
}

/** The secrets of a planned change. One that only an apply would know counts as one that stays. */
function knownSecrets({ sensitivePaths, unknownPaths = [] }: ResourceChange): ResourceChange['sensitivePaths'] {
  const isKnown = (path: ValuePath) => !unknownPaths.some((unknown) => isWithin(unknown, path));
  return sensitivePaths?.map((each) => ({ ...each, changed: each.changed && isKnown(each.path) }));
}

/** A resource that the plan would create counts as deleted, and one that it would destroy counts as created. */
const reversedActions: { readonly [action in ChangeAction]?: ChangeAction } = {
  create: 'delete',
  delete: 'create',
  forget: 'create',
  replace: 'update',
};

/** The planned value, with the real one wherever only an apply would know it. */
function knownOr(planned: JsonValue, real: JsonValue | undefined): JsonValue {
  if (isUnknown(planned)) return real ?? null;
  if (Array.isArray(planned)) {
    const items = Array.isArray(real) ? real : [];
    return planned.map((item, index) => knownOr(item, items[index]));
  }
  if (!isPlainObject(planned)) return planned;
  const members = isPlainObject(real) ? real : {};
  return Object.fromEntries(
    Object.entries(planned).map(([name, value]) => [
      name,
      knownOr(value, Object.hasOwn(members, name) ? members[name] : undefined),
    ]),
  );
}

function mergeOthers(drift: ResourceChange, plan: ResourceChange): Pick<ResourceChange, 'otherSecrets'> {
  const merged = { ...plan.otherSecrets, ...drift.otherSecrets };
  const changed = drift.otherSecrets?.changed === true || plan.otherSecrets?.changed === true;
  return drift.otherSecrets || plan.otherSecrets ? { otherSecrets: { ...merged, changed } } : {};
}

/** A secret differs if it differs in the drift or in the plan. */
function mergeSecrets(
  drift: ResourceChange['sensitivePaths'],
  plan: ResourceChange['sensitivePaths'],
): ResourceChange['sensitivePaths'] {
  if (!drift || !plan) return drift ?? plan;
  const merged = new Map<string, SensitivePath>();
  for (const each of [...drift, ...plan]) {
    const key = JSON.stringify(each.path);
    merged.set(key, { ...merged.get(key), ...each, changed: each.changed || merged.get(key)?.changed === true });
  }
  return [...merged.values()];
}
