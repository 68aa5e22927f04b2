import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import type { Side } from '#domain/shared/values/comparison/marks.ts';
import type { ValueChange } from '#domain/shared/values/comparison/value-changes.ts';

/** Redacts known secrets in a change. Keys of maps may be secrets too, even inside a value. */
export function redactChange(change: ValueChange, redactor: Redactor): ValueChange {
  if (redactor.isEmpty) return change;
  const hide = (side: Side) => (side !== undefined && redactor.contains(side) ? { sensitive: true } : side);
  const path = change.path.map((part) => (typeof part === 'string' ? redactor.redactText(part) : part));
  const [before, after] = [hide(change.before), hide(change.after)];
  const sensitive = change.sensitive || before !== change.before || after !== change.after;
  return { ...change, path, label: redactor.redactText(change.label), before, after, sensitive };
}
