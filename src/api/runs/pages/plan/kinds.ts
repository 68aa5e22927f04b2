import type { IconName } from '#api/web/components/icon.ts';
import type { ChangeKind } from '#domain/runs/plans/change-kinds.ts';

interface KindLook {
  /** What happens to the resource. */
  readonly word: string;
  /** The word after a number. */
  readonly counted: string;
  readonly icon: IconName;
}

/** Each kind of change has a word, a shape and a colour (`change-<kind>` in the styles). */
export const kindLooks: Readonly<Record<ChangeKind, KindLook>> = {
  destroy: { word: 'destroy', counted: 'destroy', icon: 'trash-2' },
  replace: { word: 'replace', counted: 'replace', icon: 'replace' },
  change: { word: 'change', counted: 'change', icon: 'pencil' },
  add: { word: 'add', counted: 'add', icon: 'plus' },
  forget: { word: 'forget', counted: 'forgotten', icon: 'eye-off' },
  import: { word: 'import', counted: 'imported', icon: 'import' },
  move: { word: 'move', counted: 'moved', icon: 'shuffle' },
  read: { word: 'read', counted: 'read', icon: 'book-open' },
  unchanged: { word: 'unchanged', counted: 'unchanged', icon: 'minus' },
};

/** The words of a scan: how a resource that it found differs from the expected one. */
const scanLooks: { readonly [kind in ChangeKind]?: KindLook } = {
  destroy: { word: 'missing', counted: 'missing', icon: 'trash-2' },
  change: { word: 'different', counted: 'different', icon: 'pencil' },
  add: { word: 'unexpected', counted: 'unexpected', icon: 'plus' },
};

export function lookOf(kind: ChangeKind, operation: string): KindLook {
  return (operation === 'scan' ? scanLooks[kind] : undefined) ?? kindLooks[kind];
}

/** Why the tool chose an action, in words. Newer tools may give other reasons. */
const causes: Readonly<Record<string, string>> = {
  delete_because_no_resource_config: 'It is not in the configuration any more.',
  delete_because_no_module: 'Its module is not in the configuration any more.',
  delete_because_no_move_target: 'It was moved to an address that the configuration does not have.',
  delete_because_wrong_repetition: 'The configuration now repeats it in another way (count or for_each).',
  delete_because_count_index: 'Its index is out of the range of count.',
  delete_because_each_key: 'Its key is not in for_each any more.',
  replace_because_tainted: 'It is tainted: an earlier apply left it incomplete.',
  replace_because_cannot_update: 'The provider cannot make this change in place.',
  replace_by_request: 'The run was asked to replace it.',
  replace_by_triggers: 'Something that it names in replace_triggered_by changes.',
  read_because_config_unknown: 'Its configuration is known only during the apply, so it is read then.',
  read_because_dependency_pending: 'Something that it depends on changes, so it is read during the apply.',
  read_because_check_nested: 'A check reads it during the apply.',
};

const scanCauses: { readonly [kind in ChangeKind]?: string } = {
  destroy: 'Expected, but not found.',
  add: 'Found, but not expected.',
};

/** Why a resource is destroyed, replaced or read; null if the plan does not say. */
export function describeCause(kind: ChangeKind, reason: string | null | undefined, operation: string): string | null {
  if (operation === 'scan') return scanCauses[kind] ?? null;
  if (reason) return causes[reason] ?? `The tool's reason: ${reason.replaceAll('_', ' ')}.`;
  return kind === 'destroy' && operation === 'destroy' ? 'This run destroys the whole instance.' : null;
}
