import type { Operation } from '#api/pipeline/operation.ts';
import type { DeclaredResource } from '../areas/declaration.ts';
import { type DeclaredName, declaredNames, declaredResources } from '../areas/declared.ts';

/** The parts of a tenant that take requests to make. `work` is a template with a run, and what belongs to the run. */
export type TenantPart = 'work' | 'assembly' | 'notification' | 'invitation' | 'connection' | 'channel' | 'plugin';

/** Operations that archive, move or delete what most of a tenant belongs to. They meet everything but what takes longest. */
const ofWholeTenant = /^(organizations|teams|projects|environments)\.(archive|unarchive|transfer|delete)$/;
const longest: readonly TenantPart[] = ['assembly', 'plugin'];

/** The operations that need a part: they name it, or something that belongs to it. */
const neededBy: Readonly<Record<TenantPart, RegExp>> = {
  work: /^(run|selective_undo\.|instances\.|template|assemblies\.|drift_|notifications\.|notification_threads\.|audit)/,
  assembly: /^assemblies\./,
  notification: /^(notifications|notification_threads)\./,
  invitation: /^(organization|team)_invitations\./,
  connection: /^(connections|project_connections|environment_connections)\./,
  channel: /^notification_channels\./,
  plugin: /^plugin/,
};

/** Whether a tenant that is made for one operation has a part. Without an operation, it has all of them. */
export function needsPart(operation: Operation | undefined, part: TenantPart): boolean {
  if (operation === undefined || neededBy[part].test(operation.id)) return true;
  if (part === 'work' && declaredNames.some((name) => needsWorkFor(operation, declaredResources[name]))) return true;
  return ofWholeTenant.test(operation.id) && !longest.includes(part);
}

/** Whether a tenant that is made for one operation has a resource that an area declares. Without an operation, it has all of them. */
export function needsDeclared(operation: Operation | undefined, resource: DeclaredResource): boolean {
  if (resource.partOf) return needsDeclared(operation, declaredResources[resource.partOf as DeclaredName]);
  if (operation === undefined || isNamedBy(operation, resource)) return true;
  return ofWholeTenant.test(operation.id) && resource.takesLong !== true;
}

function needsWorkFor(operation: Operation, resource: DeclaredResource): boolean {
  return resource.needsWork === true && isNamedBy(operation, resource);
}

function isNamedBy({ id }: Operation, { namedBy }: DeclaredResource): boolean {
  return namedBy.includes(id.split('.')[0] ?? '');
}
