import { InvitationSchema } from './entity.ts';
import { invitationKinds } from './ownership.ts';

export const entities = [InvitationSchema] as const;
export const ownership = invitationKinds;
