import { newId } from '#domain/shared/ids.ts';

/** The ids of one tenant's resources, by the names that `pathOf` and `bodies` use. */
export type Ids = Record<
  | 'organization'
  | 'team'
  | 'project'
  | 'environment'
  | 'template'
  | 'assembly'
  | 'assemblyRun'
  | 'schedule'
  | 'connection'
  | 'variableSet'
  | 'run'
  | 'selectiveUndo'
  | 'comment'
  | 'monitor'
  | 'finding'
  | 'evidence'
  | 'instance'
  | 'person'
  | 'session'
  | 'key'
  | 'account'
  | 'accountKey'
  | 'invitation'
  | 'webhook'
  | 'channel'
  | 'delivery'
  | 'notification'
  | 'plugin'
  | 'pluginAction'
  | 'pluginGrant'
  | 'pluginBackground'
  | 'pluginResource'
  | 'auditRecord',
  string
>;

/** Ids of resources that do not exist. */
export function missingIds(like: Ids): Ids {
  return Object.fromEntries(Object.keys(like).map((name) => [name, newId()])) as Ids;
}
