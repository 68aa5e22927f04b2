import { InstanceFollowSchema } from './entity.ts';
import { followingKinds } from './ownership.ts';

export const entities = [InstanceFollowSchema] as const;
export const ownership = followingKinds;
