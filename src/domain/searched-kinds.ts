import { mergeParts, type RecordOf } from './areas.ts';

type Searched = RecordOf<'searched'>;

export type NamedKind = keyof Searched;

const searched: Searched = mergeParts('searched');

/** The kinds that people search for most. Results show them first, in this order. Other kinds follow in the order of the areas. */
const first = [
  ...['instance', 'environment', 'schedule', 'drift_monitor', 'variable_set', 'connection'],
  ...['notification_channel', 'webhook', 'plugin_installation', 'plugin_resource'],
  ...['assembly', 'template', 'project', 'team', 'organization'],
] as const satisfies readonly NamedKind[];

/** The kinds that a search finds by their names, in the order of the results. */
export const namedKinds: readonly NamedKind[] = [
  ...new Set<NamedKind>([...first, ...(Object.keys(searched) as NamedKind[])]),
];

/** The candidates of each of these kinds. */
export const candidatesByKind = Object.fromEntries(namedKinds.map((kind) => [kind, searched[kind]])) as Searched;
