/** Groups of the reference that hold several areas, by the beginning of their operations' ids. */
const sharedGroups: readonly (readonly [prefix: string, group: string])[] = [['plugin_', 'Plugin Permissions']];

/** The group of an operation in the reference: unless it has a shared one, the part of its id before the dot names it. */
export function tagOf({ id }: { readonly id: string }): string {
  const shared = sharedGroups.find(([prefix]) => id.startsWith(prefix));
  return shared?.[1] ?? id.slice(0, id.indexOf('.'));
}
