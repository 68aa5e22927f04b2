import { sql } from 'kysely';
import { zeroId } from '#domain/shared/ids.ts';
import type { OwnershipSnapshot } from './ownership-snapshot.ts';

/** The owners of a scope as `expected_ownership` names them, of a statement that has them as `o` `t` `p` `e`. */
export const ownershipNow = sql<OwnershipSnapshot>`jsonb_build_object(
  'organization_id', coalesce(o.id, ${zeroId}), 'team_id', coalesce(t.id, ${zeroId}),
  'project_id', coalesce(p.id, ${zeroId}), 'environment_id', coalesce(e.id, ${zeroId}),
  'team_revision', coalesce(t.revision, 0), 'project_revision', coalesce(p.revision, 0),
  'environment_revision', coalesce(e.revision, 0))`;
