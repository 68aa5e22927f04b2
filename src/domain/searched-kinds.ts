import { mergeParts, type RecordOf } from './areas.ts';

type Searched = RecordOf<'searched'>;

export type NamedKind = keyof Searched;

const searched: Searched = mergeParts('searched');

/** These are shown first, in this order: what people look for most. Other kinds follow in the order of the areas. */
const first = [
  ...['instance', 'environment', 'schedule', 'drift_monitor', 'variable_set', 'connection'],
  ...['notification_channel', 'webhook', 'plugin_installation', 'plugin_resource'],
  ...['assembly', 'template', 'project', 'team', 'organization'],
] as const satisfies readonly NamedKind[];

/** The kinds that are found by their names, in the order in which results are shown. */
export const namedKinds: readonly NamedKind[] = [
  ...new Set<NamedKind>([...first, ...(Object.keys(searched) as NamedKind[])]),
];

/** What a principal may read of each of these kinds. */
export const candidatesByKind = Object.fromEntries(namedKinds.map((kind) => [kind, searched[kind]])) as Searched;
