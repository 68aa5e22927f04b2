import type { Operation } from '#api/pipeline/operation.ts';

/** The parts of a tenant that take requests to make. `work` is a template with a run, and what belongs to the run. */
export type TenantPart =
  | 'work'
  | 'assembly'
  | 'schedule'
  | 'notification'
  | 'invitation'
  | 'connection'
  | 'variableSet'
  | 'webhook'
  | 'channel'
  | 'plugin';

/** Operations that archive, move or delete what most of a tenant belongs to. They meet everything but what takes longest. */
const ofWholeTenant = /^(organizations|teams|projects|environments)\.(archive|unarchive|transfer|delete)$/;
const longest: readonly TenantPart[] = ['assembly', 'schedule', 'plugin'];

/** The operations that need a part: they name it, or something that belongs to it. */
const neededBy: Readonly<Record<TenantPart, RegExp>> = {
  work: /^(run|selective_undo\.|instances\.|template|assemblies\.|drift_|schedules\.|notifications\.|notification_threads\.|audit)/,
  assembly: /^assemblies\./,
  schedule: /^schedules\./,
  notification: /^(notifications|notification_threads)\./,
  invitation: /^(organization|team)_invitations\./,
  connection: /^(connections|project_connections|environment_connections)\./,
  variableSet: /^variable_set/,
  webhook: /^webhooks\./,
  channel: /^notification_channels\./,
  plugin: /^plugin/,
};

/** Whether a tenant that is made for one operation has a part. Without an operation, it has all of them. */
export function needsPart(operation: Operation | undefined, part: TenantPart): boolean {
  if (operation === undefined || neededBy[part].test(operation.id)) return true;
  return ofWholeTenant.test(operation.id) && !longest.includes(part);
}
