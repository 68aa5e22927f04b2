import { ProjectSchema } from './entity.ts';
import { projectKinds } from './ownership.ts';

export const entities = [ProjectSchema] as const;
export const ownership = projectKinds;
