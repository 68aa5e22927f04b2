import { newId } from '#domain/shared/ids.ts';
import type { DeclaredName } from '../areas/declared.ts';

/** The ids of one tenant's resources, by the names that `pathOf` and `bodies` use. Those of areas with a `declarations.ts` have theirs there. */
export type Ids = Record<
  | DeclaredName
  | 'organization'
  | 'team'
  | 'project'
  | 'environment'
  | 'template'
  | 'assembly'
  | 'assemblyRun'
  | 'connection'
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
  | 'channel'
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
