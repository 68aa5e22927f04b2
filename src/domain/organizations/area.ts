import { organizationCandidates } from './candidates-store.ts';
import { OrganizationSchema, OrganizationSlugSchema } from './entity.ts';
import { organizationKinds } from './ownership.ts';

export const entities = [OrganizationSchema, OrganizationSlugSchema] as const;
export const ownership = organizationKinds;
export const searched = { organization: organizationCandidates };
export const named = { organizations: {} };
