/**
 * What a planned change means for its resource, in the order in which people should read a plan. A replacement is one kind, and not a
 * destruction and a creation. `move` and `import`: nothing else happens to the resource. `unchanged`: nothing happens to it.
 */
export const changeKinds = [
  'destroy',
  'replace',
  'change',
  'add',
  'forget',
  'import',
  'move',
  'read',
  'unchanged',
] as const;
export type ChangeKind = (typeof changeKinds)[number];

/**
 * How many changes of each kind a plan has. A resource that is changed and also moved or imported counts in both, so the sum may
 * exceed the number of changes.
 */
export type ChangeCounts = Record<ChangeKind, number>;
