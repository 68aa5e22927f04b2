import { type Compared, compare, type Effort, newEffort } from './compare.ts';
import { cutAround } from './cut.ts';
import { areHidden, isPlainObject, isSecret, isUnknown, type Side } from './marks.ts';
import { isWithin, type Place, root, type ValuePath } from './paths.ts';

/** A value that differs between an earlier and a later value. */
export interface ValueChange extends Place {
  readonly kind: 'added' | 'removed' | 'changed';
  /** Undefined: this side does not have the value. Secret values are marks (`{"sensitive": true}`), and so are unknown ones. */
  readonly before: Side;
  readonly after: Side;
  /** One of the sides is secret. */
  readonly sensitive: boolean;
  /** Only the apply will know the later value. */
  readonly unknown: boolean;
  /** The sides are texts, cut around the place where they begin to differ. */
  readonly truncated: boolean;
  /** The kind of difference if it is not the value itself, or what is known about a secret value. */
  readonly note?: string;
}

export interface ValueChanges {
  readonly changes: readonly ValueChange[];
  /** How many further changes are left out. */
  readonly omitted: number;
  /** The unchanged values, in parts as large as possible. */
  readonly unchanged: readonly Compared[];
}

/** What is known about secret values for which both sides have only a mark. */
export interface KnownSecrets {
  readonly values: readonly { readonly path: ValuePath; readonly changed: boolean }[];
  /** Whether other secret values may have changed. */
  readonly othersMayChange: boolean;
}

export interface ComparisonOptions {
  /** The budget, which several comparisons can share. */
  readonly effort?: Effort;
  /** A value that is null counts as missing, as it does for tools. */
  readonly isNullMissing?: boolean;
  readonly secrets?: KnownSecrets;
  readonly maxChanges?: number;
  /** The longest value in characters of JSON. */
  readonly maxValueLength?: number;
}

/**
 * The values that differ between two values, by path. Items of lists are matched by the member that names them, or by content. Objects that
 * one side lacks are one change, except for the whole value: its members are listed one by one.
 */
export function listValueChanges(before: Side, after: Side, options: ComparisonOptions = {}): ValueChanges {
  const { effort = newEffort(), maxChanges = Number.POSITIVE_INFINITY, maxValueLength } = options;
  const isMissing = (side: Side) => side === undefined || (side === null && options.isNullMissing === true);
  const changes: ValueChange[] = [];
  const unchanged: Compared[] = [];
  let omitted = 0;
  for (const part of compare(orEmpty(before, after), orEmpty(after, before), root, effort)) {
    const compared = withWhatIsKnown(part, isMissing, options.secrets);
    const isGone = isMissing(compared.before);
    const isNone = isMissing(compared.after);
    if (isGone && isNone) continue;
    if (compared.isSame) unchanged.push(compared);
    else if (changes.length >= maxChanges || (maxValueLength !== undefined && effort.characters <= 0)) omitted += 1;
    else {
      const change = toChange(compared, isGone ? 'added' : isNone ? 'removed' : 'changed');
      changes.push(maxValueLength === undefined ? change : bound(change, maxValueLength, effort));
    }
  }
  return { changes, omitted, unchanged };
}

/** If the other side is an object, a missing whole value counts as an empty object. */
function orEmpty(side: Side, other: Side): Side {
  return side === undefined || side === null ? (isPlainObject(other) ? {} : side) : side;
}

function toChange({ isSame: _, ...compared }: Compared, kind: ValueChange['kind']): ValueChange {
  const { before, after } = compared;
  const sensitive = isSecret(before) || isSecret(after);
  return { ...compared, kind, sensitive, unknown: isUnknown(after), truncated: false };
}

/** Two marks of secret values look equal. Only `secrets` can say whether the values differ. */
function withWhatIsKnown(compared: Compared, isMissing: (side: Side) => boolean, secrets?: KnownSecrets): Compared {
  const { before, after, path } = compared;
  if (!isSecret(before) && !isSecret(after)) return compared;
  if (areHidden(before, after)) return compared.isSame ? compared : { ...compared, note: changedSecret };
  const about = secrets?.values.filter((each) => isWithin(each.path, path)) ?? [];
  const changes = about.length === 0 ? null : about.some(({ changed }) => changed);
  if (isSecret(before) && isSecret(after)) {
    if (!(changes ?? secrets?.othersMayChange ?? true)) return { ...compared, isSame: true };
    return { ...compared, note: changes ? changedSecret : 'sensitive: it is not known whether it changes' };
  }
  const isOneMissing = isMissing(before) || isMissing(after);
  return changes === false && !isOneMissing ? { ...compared, note: 'only sensitivity changed' } : compared;
}

const changedSecret = 'sensitive, changed';

/** Cuts both sides to a maximum length, around the place where they begin to differ. */
function bound(change: ValueChange, longest: number, effort: Effort): ValueChange {
  const [before, after] = [toText(change.before), toText(change.after)];
  const { isCut, ...cut } = cutAround(before ?? '', after ?? '', longest);
  // The path and the label are charged too: they repeat the names of everything around the value.
  effort.characters -= cut.before.length + cut.after.length + 2 * change.label.length;
  if (!isCut) return change;
  return {
    ...change,
    before: before === undefined ? undefined : cut.before,
    after: after === undefined ? undefined : cut.after,
    truncated: true,
  };
}

function toText(side: Side): string | undefined {
  return side === undefined || typeof side === 'string' ? side : JSON.stringify(side);
}
