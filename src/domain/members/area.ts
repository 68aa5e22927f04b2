import { OrganizationMemberSchema, TeamMemberSchema } from './entity.ts';
import { memberKinds } from './ownership.ts';

export const entities = [OrganizationMemberSchema, TeamMemberSchema] as const;
export const ownership = memberKinds;
