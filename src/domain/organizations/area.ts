import { OrganizationSchema, OrganizationSlugSchema } from './entity.ts';
import { organizationKinds } from './ownership.ts';

export const entities = [OrganizationSchema, OrganizationSlugSchema] as const;
export const ownership = organizationKinds;
