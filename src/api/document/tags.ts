/** Groups of the reference with several areas, by the prefix of their operations' ids. */
const sharedGroups: readonly (readonly [prefix: string, group: string])[] = [['plugin_', 'Plugin Permissions']];

/** The group of an operation in the reference: a shared one, or else the part of its id before the dot. */
export function tagOf({ id }: { readonly id: string }): string {
  const shared = sharedGroups.find(([prefix]) => id.startsWith(prefix));
  return shared?.[1] ?? id.slice(0, id.indexOf('.'));
}
