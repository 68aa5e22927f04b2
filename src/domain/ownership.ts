import { type AreaName, areaNames, type ElementOf, listParts } from './areas.ts';

/**
 * In this order, conflicts name blockers, and cascades change tables: first the places and people of deliveries, then the things that serve
 * them. Areas that are not named here come last, in their own order.
 */
const first = [
  ...['projects', 'environments', 'identity', 'organizations', 'teams', 'members', 'invitations'],
  ...['instances', 'following', 'runs', 'assemblies', 'undo', 'drift', 'schedules'],
  ...['webhooks', 'notifications', 'notification-channels', 'messages'],
  ...['registry', 'service-accounts', 'variable-sets', 'workers', 'connections', 'quotas', 'plugins', 'audit'],
] as const satisfies readonly AreaName[];

type Declared = ElementOf<'ownership'>;

/** The declarations of all areas. */
export const declarations: readonly Declared[] = listParts('ownership', [
  ...new Set<AreaName>([...first, ...areaNames]),
]);

/** A kind that some area declares. */
export type Kind = Declared['kind'];

/** A kind that can be archived. */
export type ArchivableKind = Extract<Declared, { readonly archivable: true }>['kind'];
