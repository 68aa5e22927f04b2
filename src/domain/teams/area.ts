import { sql } from 'kysely';
import { teamCandidates } from './candidates-store.ts';
import { TeamSchema } from './entity.ts';
import { teamKinds } from './ownership.ts';

export const entities = [TeamSchema] as const;
export const ownership = teamKinds;
export const searched = { team: teamCandidates };
export const named = { teams: { organizationId: sql<string | null>`organization_id` } };
